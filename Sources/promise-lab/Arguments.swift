/// What the user has typed wrong, and what to type instead. Ends the command with status 2.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The words behind a command.
struct Arguments {
    private var words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// Takes `--name value` or `--name=value`, wherever it stands.
    mutating func option(_ name: String, for what: String) throws -> String {
        if let index = words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(words.remove(at: index).dropFirst(name.count + 1))
        }
        guard let index = words.firstIndex(of: name) else {
            throw Mistake("\(name) is missing; it wants \(what)")
        }
        guard words.indices.contains(index + 1) else { throw Mistake("\(name) wants \(what)") }
        words.remove(at: index)
        return words.remove(at: index)
    }

    /// The first of the words that is one of these options, by its name.
    func first(of names: [String]) -> String? {
        words.lazy.compactMap { word in names.first { word == $0 || word.hasPrefix("\($0)=") } }
            .first
    }

    func has(_ name: String) -> Bool {
        words.contains { $0 == name || $0.hasPrefix("\(name)=") }
    }

    /// Takes an option that need not be there.
    mutating func optional(_ name: String, for what: String) throws -> String? {
        has(name) ? try option(name, for: what) : nil
    }

    /// Takes `--name`, which wants nothing.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Takes `--name number`, or the usual one.
    mutating func number(_ name: String, or usual: Int) throws -> Int {
        guard let word = try optional(name, for: "a number") else { return usual }
        guard let number = Int(word), number > 0 else {
            throw Mistake("\(name) wants a number greater than 0, not '\(word)'")
        }
        return number
    }

    /// Of these options at most one may be there: each says something else to do.
    func atMostOne(of names: String...) throws { try atMostOne(of: names) }

    func atMostOne(of names: [String]) throws {
        let present = names.filter(has)
        if present.count < 2 { return }
        throw Mistake("\(present[0]) and \(present[1]) exclude one another: nothing was done")
    }

    /// Of what these options say nothing would be made without the other.
    func check(_ names: String..., need other: String) throws {
        guard !has(other), let name = names.first(where: has) else { return }
        throw Mistake("\(name) is of use only together with \(other)")
    }

    /// Looks for an option that a command does not have, before anything is missed because of it.
    func check(against options: [String], of command: String) throws {
        for word in words where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            if options.contains(name) { continue }
            let others =
                options.isEmpty ? "it has none" : "there are \(options.joined(separator: ", "))"
            throw Mistake(
                "there is no option '\(name)' here; \(others) (see promise-lab help \(command))")
        }
    }

    /// Whether there is a word that is no option.
    var hasWord: Bool { words.contains { !$0.hasPrefix("-") } }

    /// Takes the next word that is no option.
    mutating func word(_ what: String) throws -> String {
        guard let index = words.firstIndex(where: { !$0.hasPrefix("-") }) else {
            throw Mistake("a word is missing: \(what)")
        }
        return words.remove(at: index)
    }

    /// Nothing may be left.
    mutating func end() throws {
        guard let word = words.first else { return }
        throw Mistake(
            word.hasPrefix("-")
                ? "there is no option '\(word)' here (see promise-lab --help)"
                : "'\(word)' is one word too many (see promise-lab --help)")
    }
}

extension [String] {
    /// `1, 2 and 3`.
    func joined(separator: String, last: String) -> String {
        guard let end = self.last, count > 1 else { return joined(separator: separator) }
        return dropLast().joined(separator: separator) + last + end
    }
}
