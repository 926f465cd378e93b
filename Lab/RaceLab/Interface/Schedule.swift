import CRaceLab

extension Exploration {
    /// The thread that makes each step of an interleaving, in a form that can be printed, stored
    /// and typed.
    ///
    /// A schedule has one letter for each step: the first letter of the thread's name, or, if two
    /// threads begin with the same letter, `A` for the thread that was added first, `B` for the
    /// next, and so on; Greek capitals follow `Z`. A thread that was started by another one has a
    /// letter from the end of the alphabet. A number after a letter repeats it: `SR3S` is `SRRRS`.
    ///
    /// A minus after a letter marks an attempt to take a lock that fails because it comes right
    /// before the release of the lock. In `HT-`, H makes its last step under the lock, T attempts
    /// to take the lock and fails, and then H releases it. In `HT`, H releases it first.
    ///
    /// An exclamation mark after a letter means that a wait times out in this step; an asterisk
    /// means that a condition wakes the thread without a signal (a spurious wakeup): see
    /// ``Exploration/Options/timeOutsFireAtAnyTime`` and ``Exploration/Options/spuriousWakeups``.
    ///
    /// A tilde and a number after a letter mean that the step reads an old value of an atomic
    /// variable: `B~0` reads the value that was there first, `B~1` the first one that was stored
    /// there, and so on. See ``Exploration/Options/memory-swift.property``.
    public struct Schedule: Hashable, Codable, Sendable {
        /// What is special about a step.
        public enum Mark: Hashable, Codable, Sendable {
            /// An attempt to take a lock right before its release.
            case early
            /// A wait times out although other threads could continue.
            case timedOut
            /// A condition wakes the thread without a signal.
            case spurious
            /// It reads an old value of an atomic variable: 0 is the value that was there first, 1
            /// the first one stored.
            case old(Int)

            fileprivate var text: String {
                switch self {
                case .early: "-"
                case .timedOut: "!"
                case .spurious: "*"
                case .old(let number): "~\(number)"
                }
            }
        }

        /// The index of the thread that makes each step.
        public let choices: [Int]
        /// The special steps, counted from 0.
        public let marks: [Int: Mark]

        /// Creates a schedule from the threads that make its steps. Steps are counted from 0.
        public init(_ choices: [Int], marks: [Int: Mark] = [:]) {
            self.choices = choices
            self.marks = marks
        }

        /// - Parameter mark: what is special about a step, if anything.
        package init(_ choices: [Int], mark: (Int) -> Mark?) {
            var marks: [Int: Mark] = [:]
            for step in choices.indices {
                if let mark = mark(step) { marks[step] = mark }
            }
            self.init(choices, marks: marks)
        }

        var readsOldValues: Bool {
            marks.values.contains { if case .old = $0 { true } else { false } }
        }

        /// The schedule of the first `length` steps.
        func prefix(_ length: Int) -> Schedule {
            Schedule(Array(choices.prefix(length)), marks: marks.filter { $0.key < length })
        }

        /// Why a text is not a schedule of a scenario.
        public struct Malformed: Error, Hashable, Codable, Sendable, CustomStringConvertible {
            /// The reason, and what the letters are, in a sentence.
            public let description: String
        }

        /// Reads a schedule for threads of these names. The empty text is the schedule of an
        /// interleaving without a step: one in which no thread can make its first.
        public init(_ text: String, threads: [String]) throws(Malformed) {
            let letters = Schedule.letters(for: threads)
            let named = StartedThreads.named(of: threads)
            let others = letters.dropFirst(named.count)
            let legend =
                zip(letters, named).map { "\($0) (\($1))" }.joined(separator: ", ")
                + (others.first.map { "; for those that they start, \($0) and so on backwards" }
                    ?? "")
            var choices: [Int] = []
            var marks: [Int: Mark] = [:]
            var characters = Substring(text)
            while let letter = characters.popFirst() {
                guard let thread = letters.firstIndex(of: Schedule.capital(letter)) else {
                    throw Malformed(
                        description: "'\(letter)' in the schedule \(text) is no thread: "
                            + "the letters are \(legend)")
                }
                let isOld = characters.first == "~"
                let mark = [Mark.early, .timedOut, .spurious].first {
                    characters.hasPrefix($0.text)
                }
                if isOld || mark != nil { characters = characters.dropFirst() }
                let digits = characters.prefix { $0.isASCII && $0.isNumber }
                characters = characters.dropFirst(digits.count)
                if isOld {
                    guard let number = Int(digits), number < 1_000_000 else {
                        throw Malformed(
                            description: "'\(letter)~' in the schedule \(text) needs a number: 0 "
                                + "for the value that was there first, 1 for the first one stored")
                    }
                    marks[choices.count] = .old(number)
                    choices.append(thread)
                    continue
                }
                guard let times = digits.isEmpty ? 1 : Int(digits), (1...1_000_000).contains(times)
                else {
                    throw Malformed(
                        description: "'\(letter)\(digits)' in the schedule \(text) is no number of "
                            + "steps: write a letter and, to repeat it, a number from 1 on")
                }
                for step in choices.count..<(choices.count + times) { marks[step] = mark }
                choices += Array(repeating: thread, count: times)
            }
            self.init(choices, marks: marks)
        }

        /// The text that ``init(_:threads:)`` reads.
        public func text(threads: [String]) -> String {
            let letters = Schedule.letters(for: threads)
            var text = ""
            var start = 0
            while start < choices.count {
                var end = start
                let mark = marks[start]
                while end < choices.count, choices[end] == choices[start], marks[end] == mark {
                    end += 1
                }
                let letter = "\(letters[choices[start]])\(mark?.text ?? "")"
                let count = end - start
                let isOld = if case .old? = mark { true } else { false }
                text +=
                    count > 4 && !isOld
                    ? "\(letter)\(count)" : String(repeating: letter, count: count)
                start = end
            }
            return text
        }

        /// The letter of each thread. Threads that other threads have started have letters from the
        /// end of the alphabet, so that the letters of the scenario's threads do not depend on
        /// them.
        public static func letters(for threads: [String]) -> [Character] {
            let named = Array(StartedThreads.named(of: threads))
            let initials = named.map { capital($0.first ?? "?") }
            let areTellingApart =
                Set(initials).count == named.count && initials.allSatisfy(\.isLetter)
            let letters = areTellingApart ? initials : Array((latin + greek).prefix(named.count))
            let others = (latin.reversed() + greek).filter { !letters.contains($0) }
            return letters + others.prefix(threads.count - named.count)
        }

        private static let latin = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        /// Letters for further threads: the Greek capitals that look like no Latin one.
        private static let greek = Array("ΓΔΘΛΞΠΣΦΨΩ")

        /// The capital of a letter; the letter itself if it has no capital, or one of two letters,
        /// as `ß` has.
        private static func capital(_ letter: Character) -> Character {
            let capital = letter.uppercased()
            return capital.count == 1 ? Character(capital) : letter
        }

        /// The number of context switches.
        public var switches: Int {
            zip(choices, choices.dropFirst()).count { $0 != $1 }
        }
    }
}

/// The threads of a run, or of several, and names for those that the scenario does not name.
struct StartedThreads {
    var count = 0
    /// Which threads are tasks, and which do the work of a queue. One bit for each.
    var tasks: rl_thread_set = 0
    var queueThreads: rl_thread_set = 0

    mutating func formUnion(_ other: StartedThreads) {
        count = max(count, other.count)
        tasks |= other.tasks
        queueThreads |= other.queueThreads
    }

    private static let kinds = ["started thread", "task", "queue thread"]

    /// The names of all threads. The scenario has named the first of them.
    func names(after named: [String]) -> [String] {
        named + (named.count..<max(named.count, count)).map(name)
    }

    private func name(_ index: Int) -> String {
        let isTask = tasks >> UInt32(index) & 1 == 1
        let servesQueue = queueThreads >> UInt32(index) & 1 == 1
        return "\(Self.kinds[isTask ? 1 : servesQueue ? 2 : 0]) \(index + 1)"
    }

    /// The names that the scenario has given.
    static func named(of threads: [String]) -> ArraySlice<String> {
        let first = threads.enumerated().first { index, name in
            kinds.contains { name == "\($0) \(index + 1)" }
        }
        return threads.prefix(first?.offset ?? threads.count)
    }
}
