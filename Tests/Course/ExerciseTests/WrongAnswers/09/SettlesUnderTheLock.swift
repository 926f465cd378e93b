// Rejected: E09.8 deadlock
// The winner is chosen under a lock, and observers are called before it is released.

import Foundation
import Stage3ThreadSafe

private final class Course<Value: Sendable> {
    private let lock = NSLock()
    private var remains: [() -> Void] = []
    private var isOver = false
    private let resolver: Resolver<Value>

    init(_ resolver: Resolver<Value>) {
        self.resolver = resolver
    }

    func add(_ clearAway: @escaping () -> Void) {
        lock.lock()
        let isLate = isOver
        if !isLate { remains.append(clearAway) }
        lock.unlock()
        if isLate { clearAway() }
    }

    func end(_ outcome: Result<Value, any Error>) {
        lock.lock()
        defer { lock.unlock() }
        guard !isOver else { return }
        isOver = true
        resolver.settle(outcome)
        for clearAway in remains { clearAway() }
        remains = []
    }

    func watch(_ contestant: AWPromise<Value>) {
        let observation = contestant.observe(on: ImmediateDispatcher()) { outcome in
            self.end(outcome)
        }
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
