extension Exploration {
    /// Something that an exploration has found.
    public struct Finding: Codable, Sendable, CustomStringConvertible {
        /// What is wrong. The kinds are ordered, the most informative first.
        public enum Kind: String, Codable, Sendable, CaseIterable, Comparable {
            /// The process ended: by a trap, such as an unexpected `nil` or an index out of range,
            /// by a bad access, by a stack overflow, or by `exit`. Found only with
            /// ``Exploration/Options/Isolation/childProcess(timeLimit:memoryLimit:)``; without it,
            /// the process that explores ends.
            case crash
            /// A check did not hold.
            case failedCheck = "failed check"
            /// The body of a thread threw an error.
            case uncaughtError = "uncaught error"
            /// An interleaving ended in an outcome that the scenario forbids or does not declare.
            case forbiddenOutcome = "forbidden outcome"
            /// Some threads did not end, and none of them could continue: each waits, or reads the
            /// same value repeatedly. Or all threads ended, and then a check waits, for a lock that
            /// a thread has not released for example.
            case deadlock
            /// Some threads did not end, and some of those run in loops in which they take locks,
            /// or attempt to, but nothing that they read will ever change.
            case livelock
            /// A lock, a semaphore or a continuation was used in a way that its documentation
            /// forbids: a lock was released that no thread held, a semaphore was freed with a count
            /// below the one with which it was made, or an unsafe continuation was resumed twice.
            case misuse
            /// Two threads were modifying the same memory at the same time: one of the writes may
            /// be lost, or the result may be neither. This is also a data race: it counts as a
            /// failure if either of these two kinds does.
            case overlap = "overlapping modification"
            /// Two accesses to the same memory, at least one of them a modification, that nothing
            /// orders: no lock, no atomic with a sufficient memory ordering, no start or end of a
            /// thread.
            case dataRace = "data race"

            /// One bit for each kind, so that a set of kinds fits into one number.
            var bit: UInt16 {
                switch self {
                case .crash: 1
                case .failedCheck: 2
                case .uncaughtError: 4
                case .forbiddenOutcome: 8
                case .deadlock: 16
                case .livelock: 32
                case .misuse: 64
                case .overlap: 128
                case .dataRace: 256
                }
            }

            public static func < (left: Kind, right: Kind) -> Bool { left.bit < right.bit }
        }

        let key: FindingKey
        /// The kind of the finding.
        public var kind: Kind { key.kind }
        /// What is wrong, in a sentence; for a failed check, the sentence that it threw. For a data
        /// race, the places in the source are looked up when this property is read.
        public var reason: String { key.reason }
        /// The number of explored interleavings that show it.
        public let count: Int
        /// The interleaving that shows it with the fewest preemptions, that is, switches away from
        /// a thread that could have continued; among those, with the fewest switches; and among
        /// those, the shortest.
        public let schedule: Schedule

        init(_ key: FindingKey, count: Int, schedule: Schedule) {
            self.key = key
            self.count = count
            self.schedule = schedule
        }

        public var description: String {
            kind == .failedCheck ? reason : "\(kind.rawValue): \(reason)"
        }
    }
}

/// All findings, the most informative first.
struct Found: Codable, Sendable {
    var all: [Exploration.Finding] = []
    /// For each set of kinds, as bits, the number of interleavings with findings of exactly these
    /// kinds.
    private var counts: [UInt16: Int] = [:]

    mutating func count(_ kinds: some Sequence<Exploration.Finding.Kind>) {
        var bits: UInt16 = 0
        for kind in kinds {
            bits |= kind.bit
            if kind == .overlap { bits |= Exploration.Finding.Kind.dataRace.bit }
        }
        if bits != 0 { counts[bits, default: 0] += 1 }
    }

    /// Adds the only finding of an interleaving, the most informative one.
    mutating func add(_ finding: Exploration.Finding) {
        all.insert(finding, at: 0)
        count([finding.kind])
    }

    /// All findings. An overlap becomes a data race if data races count as failures and overlaps do
    /// not.
    func all(countedBy kinds: Set<Exploration.Finding.Kind>) -> [Exploration.Finding] {
        all.map {
            Exploration.Finding($0.key.counted(by: kinds), count: $0.count, schedule: $0.schedule)
        }
    }

    /// The number of interleavings with a finding of any of these kinds.
    func count(ofAny kinds: Set<Exploration.Finding.Kind>) -> Int {
        let bits: UInt16 = kinds.reduce(0) { $0 | $1.bit }
        return counts.reduce(0) { $1.key & bits == 0 ? $0 : $0 + $1.value }
    }
}
