/// A command of promise-lab. Its usage, its help and the check of what was typed all come from this
/// description.
struct Command: Sendable {
    let name: String
    /// A line of the overview. Empty for a command that only promise-lab itself starts: no help
    /// lists it.
    let summary: String
    let arguments: [Argument]
    /// Paragraphs of prose, with an empty line between two. A paragraph that is indented is one of
    /// commands to copy.
    let help: String
    let run: @Sendable (Arguments) throws -> Void

    init(
        _ name: String, _ summary: String = "", _ arguments: [Argument] = [], help: String = "",
        run: @escaping @Sendable (Arguments) throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.arguments = arguments
        self.help = help
        self.run = run
    }

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

    /// An argument without a name of an option, such as the id of a hazard.
    static func word(
        _ name: String, _ about: String = "", choices: [String] = [], isRequired: Bool = true
    ) -> Argument {
        Argument(name: name, about: about, choices: choices, isRequired: isRequired)
    }

    /// An option without a value.
    static func flag(
        _ name: String, _ about: String, excludes: [String] = [], needs: String? = nil
    ) -> Argument {
        Argument(name: name, about: about, excludes: excludes, needs: needs)
    }

    /// An option with a value.
    static func option(
        _ name: String, _ value: String, _ about: String = "", choices: [String] = [],
        isRequired: Bool = false, excludes: [String] = [], needs: String? = nil,
        isRepeatable: Bool = false
    ) -> Argument {
        Argument(
            name: name, value: value, about: about, choices: choices, isRequired: isRequired,
            excludes: excludes, needs: needs, isRepeatable: isRepeatable)
    }

    var isOption: Bool { name.hasPrefix("-") }
    var isFlag: Bool { isOption && value == nil }

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
