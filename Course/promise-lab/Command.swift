/// A command of promise-lab. Its usage, its help and the check of what was typed all come from this
/// description.
struct Command: Sendable {
    let name: String
    /// A line of the overview. Empty for a command that only promise-lab itself starts: no help
    /// lists it.
    var summary = ""
    var arguments: [Argument] = []
    /// Paragraphs of prose, with an empty line between two. A paragraph that is indented is one of
    /// commands to copy.
    var help = ""
    let run: @Sendable (Arguments) throws -> Void

    var isInternal: Bool { summary.isEmpty }
}

/// A word or an option that a command takes.
struct Argument: Sendable {
    /// `ID`, `--schedule`.
    let name: String
    /// The word that represents the value of an option: `S` in `--schedule S`. `nil` for an option
    /// without a value, and for a word.
    var value: String?
    /// What to type: `a schedule, such as SRRRS`. For an option without a value, what it does.
    var about = ""
    /// The only possible values; empty if there are others.
    var choices: [String] = []
    /// Whether it is an error to leave it out, unless an option that excludes it is present.
    var isRequired = false
    /// Earlier options that contradict this one.
    var excludes: [String] = []
    /// The option without which this one has no effect.
    var needs: String?
    /// Whether an option may be given more than once.
    var isRepeatable = false

    var isOption: Bool { name.hasPrefix("-") }

    /// `stage` for `--stage`, `demo` for `DEMO`.
    private var noun: String { name.drop { $0 == "-" }.lowercased() }

    /// What to type, in a message and in the help.
    var takes: String {
        if choices.isEmpty { return about }
        let list = choices.joined(separator: ", ", last: " or ")
        return about.isEmpty ? "a \(noun): \(list)" : "\(about): \(list)"
    }

    func check(_ text: String) throws {
        if choices.isEmpty || choices.contains(text) { return }
        let verb = choices.count == 1 ? "is" : "are"
        throw Mistake(
            "there is no \(noun) '\(text)'; there \(verb) "
                + choices.joined(separator: ", ", last: " and "))
    }
}

extension [String] {
    /// `1, 2 and 3`.
    func joined(separator: String, last: String) -> String {
        guard let end = self.last, count > 1 else { return joined(separator: separator) }
        return dropLast().joined(separator: separator) + last + end
    }
}
