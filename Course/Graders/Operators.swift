import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization

// Shared by the exercises on operators, 8 to 11.

/// Runs the programs of exercises 8 to 10 on an answer, with numbers as values.
func withNumbers(
    _ answer: AnyObject
) -> (SmallProgram<OperatorModel>) -> OperatorSubject<Int> {
    { OperatorSubject(answer, .numbers, promises: $0.promises) }
}

extension Requirement {
    static func otherValues(_ id: String, _ calls: OperatorModel.Call...) -> Requirement {
        .programs(
            id, "one thread, other types of values",
            "Some of these programs again, with strings, optional values, arrays, `Void` and values "
                + "that are errors, and with errors of other types.",
            asking: "Which of your lines assumes something about the values?"
        ) { (answer: AnyObject) in
            func programs<Value: Sendable>(of values: Conversion<Value>) -> Programs {
                .inSequence(
                    OperatorPrograms.ofValues(calls), watched: 0,
                    remark: "; values are of type `\(Value.self)`"
                ) { OperatorSubject(answer, values, promises: $0.promises) }
            }
            var (arrays, nothing) = (Conversion<[Double]>.arrays, Conversion<Void>.nothing)
            arrays.foreign = (-1, OperatorError.timedOut)
            nothing.foreign = (-1, PromiseError.abandoned)
            return Programs(joining: [
                programs(of: .texts), programs(of: .optionals), programs(of: arrays),
                programs(of: nothing), programs(of: .errors),
            ])
        }
    }

    /// Two threads that make these calls on objects of their own.
    static func independence(
        _ id: String, of things: String, _ story: String,
        _ operations: [OperatorModel.Operation]
    ) -> Requirement {
        .independence(id, of: things, story, with: AnyObject.self) { answer in
            let user = OperatorSubject(
                answer, .numbers, promises: SmallProgram(operations).promises)
            for operation in operations { user.perform(operation) }
            return user
        }
    }
}

/// An object for a handler to capture, so that a test can see when it is freed.
final class Captured: Sendable {}

/// Runs a check, and names the reason if it failed because handlers were dispatched to the main
/// queue.
func withoutMainQueue(_ run: () throws -> Void) throws {
    let before = MainQueueThatNeverRuns.count
    do {
        try run()
    } catch let fault as Fault {
        throw MainQueueThatNeverRuns.count == before ? fault : MainQueueThatNeverRuns.fault
    }
}

/// The same for a program.
func withoutMainQueue(_ run: () -> Fault?) -> Fault? {
    let before = MainQueueThatNeverRuns.count
    return run().map { MainQueueThatNeverRuns.count == before ? $0 : MainQueueThatNeverRuns.fault }
}

/// Replaces the main queue where an answer names no dispatcher: see `Adapters`. Counts the functions
/// that it receives, and runs none.
public struct MainQueueThatNeverRuns: Dispatcher {
    private static let received = TakingTurns(0)

    static var count: Int { received.access { $0 } }
    static let fault = Fault(
        "main queue",
        "a handler was registered without `on:`, and was dispatched to the main queue, which runs "
            + "it later or never")

    public init() {}

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        Self.received.access { $0 += 1 }
    }
}

/// Lives as long as a handler that an answer has registered (see `Adapters`), so that a test can see
/// which promises have handlers left.
public final class HandlerOfAnAnswer: Sendable {
    private static let counts = Mutex<[ObjectIdentifier: Int]>([:])

    private let promise: ObjectIdentifier

    public init(on promise: AnyObject) {
        self.promise = ObjectIdentifier(promise)
        Self.counts.withLock { $0[self.promise, default: 0] += 1 }
    }

    deinit { Self.counts.withLock { $0[promise, default: 0] -= 1 } }

    static func count(on promise: AnyObject) -> Int {
        counts.withLock { $0[ObjectIdentifier(promise), default: 0] }
    }
}

/// Releases each function that it receives without running it.
struct DroppingDispatcher: Dispatcher {
    func dispatch(_ work: @escaping @Sendable () -> Void) {}
}
