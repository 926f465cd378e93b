/// A mistake in the command line, and what to type instead. Ends the command with status 2.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Why a command could not finish. Ends it with status 1.
struct Unfinished: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The arguments that were typed after a command, checked against its description.
struct Arguments: Sendable {
    private let command: Command
    /// In the order in which they were typed.
    private(set) var values: [(argument: Argument, text: String)] = []

    /// - Throws: ``Mistake`` for an argument that the command does not have, that contradicts
    ///   another one, or that is missing.
    init(_ words: [String], of command: Command) throws {
        self.command = command
        var positional: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word.hasPrefix("-"), word != "-" {
                try add(option: word, &rest)
            } else {
                positional.append(word)
            }
        }
        try add(words: positional)
        for option in command.arguments where has(option) {
            if let other = option.excludes.first(where: has) {
                throw Mistake(
                    "\(other) and \(option.name) cannot be used together; nothing was done")
            }
            if let other = option.needs, !has(other) {
                throw Mistake("\(option.name) is useful only together with \(other)")
            }
        }
        for (argument, text) in values { try argument.check(text) }
        for argument in command.arguments where argument.isRequired {
            let excluding = command.arguments.filter { $0.excludes.contains(argument.name) }
            if !excluding.contains(where: has) { _ = try required(argument) }
        }
    }

    private mutating func add(option word: String, _ rest: inout ArraySlice<String>) throws {
        let name = String(word.prefix { $0 != "=" })
        guard let option = command.arguments.first(where: { $0.isOption && $0.name == name }) else {
            let names = command.arguments.filter(\.isOption).map(\.name)
            let others =
                names.isEmpty ? "there are none" : "there are \(names.joined(separator: ", "))"
            throw Mistake("unknown option '\(name)'; \(others)\(hint)")
        }
        if has(option), !option.isRepeatable { throw Mistake("\(name) can be used only once") }
        let isJoined = name.count < word.count
        if option.value == nil {
            if isJoined { throw Mistake("\(name) takes no value") }
            return values.append((option, ""))
        }
        guard let text = isJoined ? String(word.dropFirst(name.count + 1)) : rest.popFirst() else {
            throw Mistake("\(name) takes \(option.takes)")
        }
        values.append((option, text))
    }

    /// If there are fewer words than the command can take, those that may be absent come last.
    private mutating func add(words: [String]) throws {
        let all = command.arguments.filter { !$0.isOption }
        var surplus = words.count - all.count(where: \.isRequired)
        var rest = words[...]
        for argument in all {
            if !argument.isRequired {
                if surplus <= 0 { continue }
                surplus -= 1
            }
            if let word = rest.popFirst() { values.append((argument, word)) }
        }
        guard let word = rest.first else { return }
        throw Mistake("unexpected argument '\(word)'\(hint)")
    }

    private var hint: String {
        " (see promise-lab help\(command.isInternal ? "" : " \(command.name)"))"
    }

    private func has(_ name: String) -> Bool { self[name] != nil }

    // MARK: What the command reads

    /// Whether this argument was typed.
    func has(_ argument: Argument) -> Bool { has(argument.name) }

    /// The word, or the value of the option; `nil` if it was not typed.
    subscript(argument: Argument) -> String? { self[argument.name] }

    subscript(name: String) -> String? { values.first { $0.argument.name == name }?.text }

    /// Like the subscript, for an argument without which the command cannot run.
    func required(_ argument: Argument) throws -> String {
        if let text = self[argument] { return text }
        throw Mistake(
            argument.isOption
                ? "\(argument.name) is missing; it takes \(argument.takes)"
                : "missing argument: \(argument.takes)")
    }

    /// The value of an option that takes a number; without it, the default.
    func number(_ argument: Argument, or usual: Int, atLeast least: Int = 1) throws -> Int {
        guard let text = self[argument] else { return usual }
        guard let number = Int(text), (least...Int.max >> 20).contains(number) else {
            throw Mistake(
                "\(argument.name) takes a number greater than \(least - 1), not '\(text)'")
        }
        return number
    }
}
