import CRaceLab

/// The content of a state column after a step.
struct Observation {
    /// `nil` if reading it needs a lock that a thread of the scenario holds.
    let text: String?
    /// The addresses accessed while reading it.
    let touched: Set<UInt>

    /// Calls `read` on a thread of the lab while all threads of the scenario are stopped.
    init(_ read: @escaping () -> String) {
        let reading = Reading(read)
        let isComplete = rl_observe(
            { Unmanaged<Reading>.fromOpaque($0!).takeUnretainedValue().perform() },
            Unmanaged.passUnretained(reading).toOpaque())
        text = isComplete ? reading.text : nil
        var addresses: UnsafePointer<UInt>?
        let count = rl_touched(&addresses)
        touched = Set(UnsafeBufferPointer(start: addresses, count: reading.touched ?? count))
    }

    private final class Reading {
        private let read: () -> String
        private(set) var text: String?
        /// The number of addresses accessed by `read`; `nil` if it was abandoned.
        private(set) var touched: Int?

        init(_ read: @escaping () -> String) {
            self.read = read
        }

        func perform() {
            let text = read()
            // This object is accessed from here on. Its memory may later be that of an object of
            // the scenario, so its own addresses must not count.
            var addresses: UnsafePointer<UInt>?
            let count = rl_touched(&addresses)
            self.text = text
            touched = count
        }
    }
}

/// What is read for a trace while an interleaving runs.
final class ReadStates {
    fileprivate(set) var initial: [String] = []
    /// The states after each step at which a column could be read.
    fileprivate(set) var afterSteps: [Int: [String]] = [:]
    /// For each column, the addresses accessed while reading it.
    fileprivate(set) var touched: [Set<UInt>] = []
}

extension Explorer {
    /// In the next call of `run`, each run reads the state columns, at the beginning and after each
    /// step, and collects its notes.
    func readStates() -> ReadStates {
        let states = ReadStates()
        let columns = { self.scenario.columns.filter { _ in self.readsStates } }
        // A text for each column; `nil` if none of them could be read.
        let look = { () -> [String]? in
            let observations = columns().map { Observation($0.read) }
            if states.touched.isEmpty { states.touched = observations.map { _ in [] } }
            for (column, seen) in observations.enumerated() {
                states.touched[column].formUnion(seen.touched)
            }
            if !observations.isEmpty, observations.allSatisfy({ $0.text == nil }) { return nil }
            return observations.map { $0.text ?? Exploration.Trace.locked }
        }
        wasSetUp = {
            // Not earlier: only now does this exploration own the lab, so that no other one writes
            // notes.
            Notes.start(self.reporter)
            states.afterSteps = [:]
            states.touched = []
            states.initial = look() ?? columns().map { _ in Exploration.Trace.locked }
            self.reporter?.tell(.initial(states.initial))
        }
        stepped = { step in
            guard let state = look() else { return }
            states.afterSteps[step] = state
            self.reporter?.tell(.states(step: step, state))
        }
        return states
    }
}
