/// The value that an operation returned, or the error that it threw.
struct OperationResult: CustomStringConvertible {
    let description: String
    private let equals: (OperationResult) -> Bool
    private let value: Any?

    init<Value: Equatable>(_ body: () throws -> Value) {
        do {
            let value = try body()
            self.init(value, "\(value)") { $0.value as? Value == value }
        } catch {
            self.init(error)
        }
    }

    init(_ body: () throws -> Void) {
        do {
            try body()
            self.init((), "()") { $0.value is Void }
        } catch {
            self.init(error)
        }
    }

    /// Errors are compared by their text: they need not be equatable.
    private init(_ error: any Error) {
        let text = "the error \(error)"
        self.init(nil, text) { $0.value == nil && $0.description == text }
    }

    private init(
        _ value: Any?, _ description: String, equals: @escaping (OperationResult) -> Bool
    ) {
        self.value = value
        self.description = description
        self.equals = equals
    }

    static func == (left: OperationResult, right: OperationResult) -> Bool { left.equals(right) }
}

/// A moment at which an operation was called or returned.
enum Event {
    case begins(Call)
    case ends(Call, OperationResult)
}

/// The operations of one interleaving: their results, and which of them had returned before another
/// one was called.
struct History {
    private struct Operation {
        let call: Call
        let result: OperationResult
        /// The positions of the operations that had returned when this one was called.
        let predecessors: Set<Int>
    }

    private var operations: [Operation] = []

    init(_ events: [Event]) {
        let position = Dictionary(
            uniqueKeysWithValues: events.compactMap { event -> Call? in
                if case .ends(let call, _) = event { call } else { nil }
            }.enumerated().map { ($1, $0) })
        var finished: Set<Int> = []
        var predecessors: [Call: Set<Int>] = [:]
        for event in events {
            switch event {
            case .begins(let call):
                predecessors[call] = finished
            case .ends(let call, let result):
                finished.insert(position[call]!)
                operations.append(
                    Operation(call: call, result: result, predecessors: predecessors[call]!))
            }
        }
    }

    /// Whether a sequential order of the operations explains the results. An operation that
    /// returned before another one was called must precede it in this order.
    func isExplained<Model>(
        from model: Model, by steps: [(inout Model) -> OperationResult]
    ) -> Bool {
        func isExplained(_ done: Set<Int>, _ model: Model) -> Bool {
            if done.count == operations.count { return true }
            return operations.indices.contains { next in
                let operation = operations[next]
                guard !done.contains(next), operation.predecessors.isSubset(of: done) else {
                    return false
                }
                var model = model
                return steps[operation.call.operation](&model) == operation.result
                    && isExplained(done.union([next]), model)
            }
        }
        return isExplained([], model)
    }

    /// The results of each thread, such as `A: pop() = 1; B: pop() = 1`.
    func text(_ names: [String]) -> String {
        let threads = Dictionary(grouping: operations) { $0.call.thread ?? -1 }
        return threads.sorted { $0.key < $1.key }.map { thread, operations in
            let calls = operations.map { "\(names[$0.call.operation]) = \($0.result)" }
            let name = thread < 0 ? "before" : SmallProgram.threadName(thread)
            return "\(name): \(calls.joined(separator: ", "))"
        }.joined(separator: "; ")
    }
}
