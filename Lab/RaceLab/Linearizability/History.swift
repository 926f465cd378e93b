/// The value that an operation returned, or the error that it threw.
struct OperationResult: CustomStringConvertible {
    let description: String
    private let value: any Equatable

    /// Errors are compared by their text: they need not be equatable.
    private struct Failure: Equatable {
        let text: String
    }

    init<Value: Equatable>(_ body: () throws -> Value) {
        do {
            let value = try body()
            self.value = value
            description = "\(value)"
        } catch {
            description = "the error \(error)"
            value = Failure(text: description)
        }
    }

    static func == (left: OperationResult, right: OperationResult) -> Bool {
        func isEqual<Value: Equatable>(_ value: Value) -> Bool {
            right.value as? Value == value
        }
        return isEqual(left.value)
    }
}

/// The result of an operation that returns nothing.
struct Nothing: Equatable, CustomStringConvertible {
    let description = "()"
}

/// A moment at which a thread called an operation, given by its number, or the operation returned.
/// The thread is `nil` before the threads begin.
enum Event {
    case begins(thread: Int?)
    case ends(thread: Int?, operation: Int, OperationResult)
}

/// The operations of one interleaving: their results, and which of them had returned before another
/// one was called.
struct History {
    private struct Operation {
        let thread: Int?
        let number: Int
        let result: OperationResult
        /// How many operations had returned when this one was called.
        let predecessors: Int
    }

    /// In the order in which they returned.
    private var operations: [Operation] = []

    init(_ events: [Event]) {
        var predecessors: [Int?: Int] = [:]
        for event in events {
            switch event {
            case .begins(let thread):
                predecessors[thread] = operations.count
            case .ends(let thread, let number, let result):
                operations.append(
                    Operation(
                        thread: thread, number: number, result: result,
                        predecessors: predecessors[thread]!))
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
                guard !done.contains(next), done.isSuperset(of: 0..<operation.predecessors) else {
                    return false
                }
                var model = model
                return steps[operation.number](&model) == operation.result
                    && isExplained(done.union([next]), model)
            }
        }
        return isExplained([], model)
    }

    /// The results of each thread, such as `A: pop() = 1; B: pop() = 1`.
    func text(_ names: [String]) -> String {
        let threads = Dictionary(grouping: operations) { $0.thread ?? -1 }
        return threads.sorted { $0.key < $1.key }.map { thread, operations in
            let calls = operations.map { "\(names[$0.number]) = \($0.result)" }
            let name = thread < 0 ? "before" : SmallProgram.threadName(thread)
            return "\(name): \(calls.joined(separator: ", "))"
        }.joined(separator: "; ")
    }
}
