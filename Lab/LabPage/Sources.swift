import Foundation
import Synchronization

/// The source files that a page shows.
enum Sources {
    private static let known = Mutex<[String: [String]]>([:])

    /// The lines of a file; empty if it cannot be read.
    static func lines(of path: String) -> [String] {
        if let lines = known.withLock({ $0[path] }) { return lines }
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        known.withLock { $0[path] = lines }
        return lines
    }

    static func line(_ number: Int, of path: String) -> String? {
        let lines = lines(of: path)
        return lines.indices.contains(number - 1) ? lines[number - 1] : nil
    }

    private static let declarations = Mutex<[String: [Int: ClosedRange<Int>]]>([:])

    /// The lines of the declaration around a line: from its beginning to its closing brace. If the
    /// closing brace is not found, three lines on either side. `nil` if the file has no such line.
    static func declaration(around line: Int, of path: String) -> ClosedRange<Int>? {
        if let known = declarations.withLock({ $0[path]?[line] }) { return known }
        let lines = lines(of: path)
        guard lines.indices.contains(line - 1) else { return nil }
        let first = beginning(of: line, in: lines)
        let last = end(from: first, over: line, in: lines)
        let found = last.map { first...$0 } ?? max(1, line - 3)...min(lines.count, line + 3)
        declarations.withLock { $0[path, default: [:]][line] = found }
        return found
    }

    private static func beginning(of line: Int, in lines: [String]) -> Int {
        var level = lines[line - 1].indentation
        for number in stride(from: line, through: 1, by: -1) {
            let text = lines[number - 1]
            if text.allSatisfy({ $0 == " " }) { continue }
            level = min(level, text.indentation)
            if text.indentation == level, text.beginsDeclaration { return number }
        }
        return 1
    }

    /// The line of the closing brace of a declaration; `nil` if it is not found nearby.
    private static func end(from first: Int, over line: Int, in lines: [String]) -> Int? {
        var depth = 0
        var hasBody = false
        for number in first..<min(first + 60, lines.count + 1) {
            for character in lines[number - 1].utf8 {
                if character == UInt8(ascii: "{") { (depth, hasBody) = (depth + 1, true) }
                if character == UInt8(ascii: "}") { depth -= 1 }
            }
            if hasBody, depth <= 0, number >= line { return number }
        }
        return nil
    }
}

extension String {
    fileprivate var indentation: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    fileprivate var beginsDeclaration: Bool {
        contains(/\b(func|init|deinit|subscript)\b.*[({]|\bvar .*\{ *$|\.thread\(/)
    }
}
