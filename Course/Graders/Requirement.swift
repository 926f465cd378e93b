import RaceLab
import SharedSuite

/// How far the requirements go in numbers.
enum Bounds {
    /// How many of everything there can be: more than a limit of 2^12, and than a counter of eight
    /// bits can count.
    static let many = 4_100
    /// The same where an answer may need time that grows with the square.
    static let squared = 1_100
    /// Durations that a conversion loses, rounds, or cannot hold.
    static let durations: [Duration] = [
        .zero, .nanoseconds(1), .microseconds(999), .milliseconds(1_500), .seconds(60),
        .seconds(1 << 40),
    ]
}

/// One condition that an answer has to satisfy.
public struct Requirement: Sendable {
    /// The id of a hazard of the catalogue, or of a requirement of the exercise, such as `E08.2`.
    public internal(set) var id: String
    /// A few words.
    public let name: String
    /// A sentence: what is run, and the expected result.
    public let story: String
    /// Asked when the requirement fails. It guides the reader without giving the answer away.
    public let question: String
    /// Whether an answer that meets all requirements is compiled with optimization as well, and has
    /// to meet this one again. The optimizer releases an object after its last use, which may be
    /// earlier than in a debug build: under a lock, for instance.
    var isAlsoRunOptimized = false
    /// Whether weaker memory orderings are tried in an answer that meets the requirement.
    var triesWeakerOrderings = false
    /// The only one of its programs to run: see ``Programs``.
    var program: Int?
    var hasPrograms = false
    /// The fault to report if a thread or task waits forever, where that can mean only one thing.
    var whenStuck: Fault?
    /// What is run with the object that the adapter of the answer returns.
    let body: @Sendable (AnyObject) -> Body

    enum Body {
        /// One thread runs a function without the lab, which allows no more steps. The function
        /// throws a ``Fault`` if it fails.
        case unwatched(() throws -> Void, stack: Int)
        /// Every interleaving of a scenario.
        case scenario(Exploration.Options, (Scenario) -> Void)
        /// Small programs, and a model that says what they may do.
        case programs(Programs)
        /// Two threads that share nothing: neither may wait for the other or race with it.
        case independence(Independence)
        /// One interleaving, which has to fail.
        case scheduled(Scheduled)
    }
}

/// What is wrong with an answer: a few words for a table, and a sentence.
public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    public let reason: String
    public let detail: String

    public init(_ reason: String, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The description of a failed check in a scenario: `too early: it has ended before …`.
    public var description: String { "\(reason): \(detail)" }

    /// Parses such a description.
    init?(_ description: String) {
        guard let colon = description.firstRange(of: ": ") else { return nil }
        let reason = String(description[..<colon.lowerBound])
        guard reason.split(separator: " ").count <= 4 else { return nil }
        self.init(reason, String(description[colon.upperBound...]))
    }
}

extension Requirement {
    func with<Value>(
        _ property: WritableKeyPath<Requirement, Value>, _ value: Value
    ) -> Requirement {
        var copy = self
        copy[keyPath: property] = value
        return copy
    }

    func whenStuck(_ reason: String, _ detail: String) -> Requirement {
        with(\.whenStuck, Fault(reason, detail))
    }

    /// More interleavings than most answers have. A spinlock can have very many, and grading should
    /// take seconds.
    static let maximumInterleavings = 20_000

    /// One thread without the lab, for long runs. It may not block. It throws a ``Fault``.
    ///
    /// - Parameter stack: the size of the stack in bytes; by default, that of the main thread.
    static func unwatched<Answer>(
        _ id: String, _ name: String, _ story: String, asking question: String,
        with type: Answer.Type, stack: Int = 8 << 20,
        _ run: @escaping @Sendable (Answer) throws -> Void
    ) -> Requirement {
        Requirement(id: id, name: name, story: story, question: question) { answer in
            let answer = answer as! Answer
            return .unwatched({ try withoutMainQueue { try run(answer) } }, stack: stack)
        }
    }

    /// Where an answer waits with a time limit, that limit may be over before anything else happens.
    static var options: Exploration.Options {
        var options = Exploration.Options()
        options.timeOutsFireAtAnyTime = true
        return options
    }

    /// A scenario with several threads, for an answer of the given type. Every kind of finding
    /// counts.
    static func scenario<Answer>(
        _ id: String, _ name: String, _ story: String, asking question: String,
        with type: Answer.Type,
        atMost interleavings: Int = maximumInterleavings,
        _ describe: @escaping @Sendable (Scenario, Answer) -> Void
    ) -> Requirement {
        Requirement(id: id, name: name, story: story, question: question) { answer in
            let answer = answer as! Answer
            var options = Requirement.options
            options.maximumInterleavings = interleavings
            return .scenario(options) {
                describe($0, answer)
                $0.forbidCallsUnderLocks()
            }
        }
    }

    /// Two threads that share nothing may not wait for each other.
    ///
    /// - Parameters:
    ///   - things: what they use.
    ///   - more: returns what the two threads do afterwards.
    ///   - use: uses an object that it makes, and returns what keeps it alive.
    static func independence<Answer>(
        _ id: String, of things: String, _ story: String, with type: Answer.Type,
        then more: @escaping @Sendable (Answer) -> [() -> Any?] = { _ in [{ nil }, { nil }] },
        _ use: @escaping @Sendable (Answer) -> AnyObject
    ) -> Requirement {
        Requirement(
            id: id, name: "two \(things), two threads",
            story: "\(story) Neither thread may ever wait for the other.",
            question: "How many locks are there for a thousand \(things)?"
        ) { answer in
            let answer = answer as! Answer
            return .independence(
                Independence { scenario, count in
                    let more = more(answer)
                    scenario.thread("first") {
                        withExtendedLifetime((use(answer), more[0]())) {}
                    }
                    scenario.thread("second") {
                        withExtendedLifetime(((0..<count).map { _ in use(answer) }, more[1]())) {}
                    }
                })
        }
    }
}
