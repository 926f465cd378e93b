import Foundation

/// Finds habits of language that make a text harder to read: pronouns for people as subjects of
/// technical sentences, scaffolding around "to be", programs that hear and complain, vague nouns, and
/// old words. Also finds British spelling.
struct PlainWords {
    /// A pattern, and a suggestion. Matches whole words unless the pattern says otherwise.
    struct Habit: Sendable {
        let pattern: String
        let instead: String
    }

    struct Complaint: Equatable, CustomStringConvertible {
        let line: Int
        let found: String
        let instead: String
        var description: String { "line \(line): '\(found)': \(instead)" }
    }

    static let habits: [Habit] = [
        // A person as the subject: name the thread, the caller, or the reader.
        Habit(
            pattern: #"who(m|so)?ever|(some|every|any)body|nobody"#,
            instead: "name the thread, the caller or the reader"),
        Habit(
            pattern: #"(^[ /]*|[.;:(—] |")who [a-z]+( [a-z']+){2,}(?=[^?]*([.;:]|$))"#,
            instead: "name the thread, the caller or the reader"),
        // A form of "to be" instead of a verb.
        Habit(
            pattern: #"st(ands|ood|and) (behind|beside|below|above|for no)|what there is\b"#
                + #"|there (is|are|was) to be|(is|are|was|were) to be (?!$)"#,
            instead: "use a verb that says what happens"),
        // A program that hears or speaks.
        Habit(
            pattern: #"hears?|heard|overheard|complain(s|ed|ing|t|ts)?|remark(ed|ing)"#
                + #"|(is|are|was|were) told"#,
            instead: "receive, report, warn, log or return"),
        // Vague nouns.
        Habit(
            pattern: #"comes? of (it|that|this|them)|what comes of|every way|kinds? of ways?"#
                + #"|ways? of weaving"#,
            instead: "name the interleaving or the result"),
        // Old words and inversions.
        Habit(
            pattern: #"mend(s|ed|ing)?|reckon(s|ed|ing)?|true no more|by way of|besides|likewise"#
                + #"|for ever|settled never|thereof|whereupon"#,
            instead: "fix, estimate, no longer true, through, also, forever"),
        // American spelling.
        Habit(
            pattern: #"fulfil(s|ment)?|colour\w*|behaviour\w*|neighbour\w*"#
                + #"|\w*(initial|serial|synchron|recogn|optim|special|organ|general)is(e|es|ed|er|ing|ation)"#,
            instead: "American spelling"),
    ]

    /// `NSRegularExpression`, because a `Regex` takes twenty times as long in a debug build.
    private static let expressions = habits.map { habit in
        let isWord = !habit.pattern.hasPrefix("(^")
        return try! NSRegularExpression(
            pattern: isWord ? #"\b(?:\#(habit.pattern))\b"# : habit.pattern,
            options: .caseInsensitive)
    }

    /// Quoted or interpolated code in a sentence, which is not prose.
    private static let code = try! NSRegularExpression(
        pattern: #"`[^`]*`|\\\((?:[^()]|\([^()]*\))*\)"#)

    static func complaints(about text: String) -> [Complaint] {
        text.components(separatedBy: "\n").enumerated().flatMap { index, line in
            let prose = NSMutableString(string: line)
            _ = code.replaceMatches(in: prose, range: prose.wholeRange, withTemplate: "``")
            return zip(habits, expressions).flatMap { habit, expression in
                expression.matches(in: prose as String, range: prose.wholeRange).map { match in
                    Complaint(
                        line: index + 1, found: prose.substring(with: match.range),
                        instead: habit.instead)
                }
            }
        }
    }
}

extension NSString {
    fileprivate var wholeRange: NSRange { NSRange(location: 0, length: length) }
}

// MARK: - Sentences in a source file

extension PlainWords {
    /// The comments and string literals of a Swift or C file, each on its line; the code between
    /// them is blank.
    static func sentences(ofSource source: String) -> String {
        // In UTF-8 no part of another character is mistaken for one of these marks. An array of
        // characters would take ten times as long.
        let bytes = Array(source.utf8)
        var result: [UInt8] = []
        var state = State.code
        while result.count < bytes.count {
            let first = bytes[result.count]
            guard Mark.isOne(first) else {
                result.append(state == .code ? Mark.space : first)
                continue
            }
            let (length, next) = state.step(bytes[result.count...])
            let isKept = state != .code && next != .code
            for byte in bytes[result.count...].prefix(length) {
                result.append(byte == Mark.newline || isKept ? byte : Mark.space)
            }
            state = next
        }
        return String(decoding: result, as: UTF8.self)
    }

    private enum Mark {
        static let newline = UInt8(ascii: "\n"), space = UInt8(ascii: " ")
        static let slash = UInt8(ascii: "/"), star = UInt8(ascii: "*")
        static let quote = UInt8(ascii: "\""), escape = UInt8(ascii: "\\")

        static func isOne(_ byte: UInt8) -> Bool {
            byte == newline || byte == slash || byte == star || byte == quote || byte == escape
        }
    }

    private enum State: Equatable {
        case code, lineComment, blockComment, string, longString

        /// The number of bytes to consume together, and the state after them.
        func step(_ rest: ArraySlice<UInt8>) -> (length: Int, next: State) {
            func starts(_ marks: UInt8...) -> Bool { rest.starts(with: marks) }
            let first = rest.first
            switch self {
            case .code where starts(Mark.slash, Mark.slash): return (2, .lineComment)
            case .code where starts(Mark.slash, Mark.star): return (2, .blockComment)
            case .code where starts(Mark.quote, Mark.quote, Mark.quote): return (3, .longString)
            case .code where first == Mark.quote: return (1, .string)
            case .lineComment where first == Mark.newline: return (1, .code)
            case .blockComment where starts(Mark.star, Mark.slash): return (2, .code)
            case .string where first == Mark.escape, .longString where first == Mark.escape:
                return (2, self)
            case .string where first == Mark.quote || first == Mark.newline: return (1, .code)
            case .longString where starts(Mark.quote, Mark.quote, Mark.quote): return (3, .code)
            default: return (1, self)
            }
        }
    }
}
