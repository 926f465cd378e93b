import CRaceLab

/// What a state column shows after a step.
struct Observation {
    /// `nil` if a thread of the scenario held a lock that is needed to read it.
    let text: String?
    /// What was accessed to read it, as addresses.
    let touched: Set<UInt>

    /// Reads it on a thread of the lab. All threads of the scenario stand still.
    init(_ read: @escaping () -> String) {
        let reading = Reading(read)
        let isComplete = rl_observe(
            { Unmanaged<Reading>.fromOpaque($0!).takeUnretainedValue().perform() },
            Unmanaged.passUnretained(reading).toOpaque())
        text = isComplete ? reading.text : nil
        var addresses: UnsafePointer<UInt>?
        let count = rl_touched(&addresses)
        touched = Set(UnsafeBufferPointer(start: addresses, count: count))
    }

    private final class Reading {
        private let read: () -> String
        private(set) var text: String?

        init(_ read: @escaping () -> String) {
            self.read = read
        }

        func perform() { text = read() }
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
    /// Stands for a state that could not be read.
    static let locked = "(locked)"
}
