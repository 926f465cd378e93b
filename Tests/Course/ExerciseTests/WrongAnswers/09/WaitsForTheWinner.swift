// Rejected: E09.6 deadlock
// A thread that is too late waits for the observers of the outcome.

import Foundation
import PromiseOperators
import Synchronization

private final class Course<Value: Sendable>: @unchecked Sendable {
    private let phase = Atomic(0)
    private let resolver: Resolver<Value>
    private let cleanups = Mutex<[@Sendable () -> Void]>([])
    init(_ resolver: Resolver<Value>) { self.resolver = resolver }

    func add(_ cleanup: @escaping @Sendable () -> Void) {
        cleanups.withLock { $0.append(cleanup) }
        if phase.load(ordering: .sequentiallyConsistent) > 0 { clear() }
    }
    private func clear() {
        let all = cleanups.withLock { list in
            defer { list = [] }
            return list
        }
        for cleanup in all { cleanup() }
    }
    func end(_ outcome: Result<Value, any Error>) {
        let (isFirst, _) = phase.compareExchange(
            expected: 0, desired: 1, ordering: .sequentiallyConsistent)
        guard isFirst else {
            while phase.load(ordering: .sequentiallyConsistent) != 2 {}
            return
        }
        clear()
        resolver.settle(outcome)
        phase.store(2, ordering: .sequentiallyConsistent)
    }
    func watch(_ contestant: AWPromise<Value>) {
        let observation = contestant.observe(on: ImmediateDispatcher()) { self.end($0) }
        add { observation.withdraw() }
    }
}

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    if promises.isEmpty { resolver.reject(OperatorError.noPromises) }
    let course = Course(resolver)
    for contestant in promises { course.watch(contestant) }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    let course = Course(resolver)
    course.watch(promise)
    let alarm = clock.schedule(after: limit) { course.end(.failure(OperatorError.timedOut)) }
    course.add { alarm.cancel() }
    return outcome
}
