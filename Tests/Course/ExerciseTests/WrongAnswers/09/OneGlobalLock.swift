// Rejected: E09.15 over-synchronized
// One lock for all races: safe, but unrelated threads wait for each other.

import Foundation
import Stage3ThreadSafe

private let theLock = NSLock()

private final class Course<Value: Sendable> {
    private var remains: [() -> Void] = []
    private var isOver = false
    private let resolver: Resolver<Value>

    init(_ resolver: Resolver<Value>) {
        self.resolver = resolver
    }

    func add(_ clearAway: @escaping () -> Void) {
        theLock.lock()
        let isLate = isOver
        if !isLate { remains.append(clearAway) }
        theLock.unlock()
        if isLate { clearAway() }
    }

    func end(_ outcome: Result<Value, any Error>) {
        theLock.lock()
        let isFirst = !isOver
        let remains = self.remains
        isOver = true
        self.remains = []
        theLock.unlock()
        guard isFirst else { return }
        for clearAway in remains { clearAway() }
        resolver.settle(outcome)
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
