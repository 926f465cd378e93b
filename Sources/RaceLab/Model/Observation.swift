import CRaceLab

/// The content of a state column after a step.
struct Observation {
    /// `nil` if reading it needs a lock that a thread of the scenario holds.
    private(set) var text: String?
    /// The addresses accessed while reading it.
    private(set) var touched: Set<UInt> = []

    /// Reads all columns on a thread of the lab while all threads of the scenario are stopped.
    static func all(of columns: [Scenario.Column]) -> [Observation] {
        let reading = Reading(columns)
        // A read that needs a lock is abandoned, and with it the loop of `perform`. The next
        // observation continues with the column after it.
        while reading.isIncomplete {
            _ = rl_observe(
                { Unmanaged<Reading>.fromOpaque($0!).takeUnretainedValue().perform() },
                Unmanaged.passUnretained(reading).toOpaque())
            reading.collect()
        }
        return reading.observations
    }

    private final class Reading {
        private let columns: [Scenario.Column]
        private(set) var observations: [Observation] = []
        /// What this observation has read: for each column its text, and the number of addresses
        /// accessed by then.
        private var texts: [(text: String, touched: Int)] = []

        init(_ columns: [Scenario.Column]) {
            self.columns = columns
        }

        var isIncomplete: Bool { observations.count < columns.count }

        func perform() {
            for column in columns[observations.count...] {
                let text = column.read()
                var addresses: UnsafePointer<UInt>?
                texts.append((text, rl_touched(&addresses)))
            }
        }

        /// Takes over what an observation has read.
        func collect() {
            var addresses: UnsafePointer<UInt>?
            let count = rl_touched(&addresses)
            let all = UnsafeBufferPointer(start: addresses, count: count)
            var start = 0
            for (text, end) in texts {
                observations.append(Observation(text: text, touched: Set(all[start..<end])))
                start = end
            }
            if isIncomplete { observations.append(Observation(touched: Set(all[start...]))) }
            texts = []
        }
    }
}

extension [Observation] {
    /// A text for each column; `nil` if none of them could be read.
    var texts: [String]? {
        if !isEmpty, allSatisfy({ $0.text == nil }) { return nil }
        return map { $0.text ?? Exploration.Trace.locked }
    }
}

extension Exploration.Trace {
    /// Replaces a state that cannot be read because a thread holds a lock.
    static let locked = "(locked)"
}
