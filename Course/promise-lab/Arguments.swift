/// A mistake in the command line, and what to type instead. Ends the command with status 2.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The words after a command.
struct Arguments {
    private var words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// Takes `--name value` or `--name=value`, at any position.
    mutating func option(_ name: String, for what: String) throws -> String {
        if let index = words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(words.remove(at: index).dropFirst(name.count + 1))
        }
        guard let index = words.firstIndex(of: name) else {
            throw Mistake("\(name) is missing; it takes \(what)")
        }
        guard words.indices.contains(index + 1) else { throw Mistake("\(name) takes \(what)") }
        words.remove(at: index)
        return words.remove(at: index)
    }

    /// The name of the first word that is one of these options.
    func first(of names: [String]) -> String? {
        words.lazy.compactMap { word in names.first { word == $0 || word.hasPrefix("\($0)=") } }
            .first
    }

    func has(_ name: String) -> Bool {
        words.contains { $0 == name || $0.hasPrefix("\(name)=") }
    }

    /// Takes an option that may be absent.
    mutating func optional(_ name: String, for what: String) throws -> String? {
        has(name) ? try option(name, for: what) : nil
    }

    /// Takes `--name`, which has no value.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Takes `--name number`; without it, returns the default.
    mutating func number(_ name: String, or usual: Int) throws -> Int {
        guard let word = try optional(name, for: "a number") else { return usual }
        guard let number = Int(word), number > 0 else {
            throw Mistake("\(name) takes a number greater than 0, not '\(word)'")
        }
        return number
    }

    /// Throws if more than one of these options is present: they contradict each other.
    func atMostOne(of names: String...) throws { try atMostOne(of: names) }

    func atMostOne(of names: [String]) throws {
        let present = names.filter(has)
        if present.count < 2 { return }
        throw Mistake("\(present[0]) and \(present[1]) cannot be used together; nothing was done")
    }

    /// Throws if one of these options is present without the other: it would have no effect.
    func check(_ names: String..., need other: String) throws {
        guard !has(other), let name = names.first(where: has) else { return }
        throw Mistake("\(name) is useful only together with \(other)")
    }

    /// Throws if there is an option that the command does not have. Called first, because a
    /// mistyped option can make a required one seem missing.
    func check(against options: [String], of command: String) throws {
        for word in words where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            if options.contains(name) { continue }
            let others =
                options.isEmpty ? "there are none" : "there are \(options.joined(separator: ", "))"
            throw Mistake(
                "unknown option '\(name)'; \(others) (see promise-lab help \(command))")
        }
    }

    /// Whether there is a word that is not an option.
    var hasWord: Bool { words.contains { !$0.hasPrefix("-") } }

    /// Takes the next word that is not an option.
    mutating func word(_ what: String) throws -> String {
        guard let index = words.firstIndex(where: { !$0.hasPrefix("-") }) else {
            throw Mistake("missing argument: \(what)")
        }
        return words.remove(at: index)
    }

    /// Throws if any word is left.
    mutating func end() throws {
        guard let word = words.first else { return }
        throw Mistake(
            word.hasPrefix("-")
                ? "unknown option '\(word)' (see promise-lab --help)"
                : "unexpected argument '\(word)' (see promise-lab --help)")
    }
}

extension [String] {
    /// `1, 2 and 3`.
    func joined(separator: String, last: String) -> String {
        guard let end = self.last, count > 1 else { return joined(separator: separator) }
        return dropLast().joined(separator: separator) + last + end
    }
}
