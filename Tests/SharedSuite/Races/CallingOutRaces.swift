import Dispatch
import RaceLab

struct R09: Race {
    let id = "R09"
    let name = "a handler that waits"
    let title = "A handler waits for another thread"
    let story =
        "A handler waits until another thread has registered a handler on the same promise. A "
        + "promise that calls handlers under its lock would block that thread forever."

    var failingKinds: Set<Exploration.Finding.Kind> { [.deadlock, .livelock, .uncaughtError] }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let registered = DispatchSemaphore(value: 0)
        promise.mapping {
            registered.wait()
            return $0
        }
        scenario.thread("resolver") { resolve(1) }
        scenario.thread("subscriber") {
            promise.ending { _ in }
            registered.signal()
        }
        scenario.show(promise)
    }
}

struct R10: Race {
    let id = "R10"
    let name = "two promises, ABBA"
    let title = "Two promises are fulfilled inside each other’s handlers"
    let story =
        "Each of two promises is fulfilled inside a handler of the other, on two threads."

    var failingKinds: Set<Exploration.Finding.Kind> { [.deadlock, .livelock, .uncaughtError] }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (left, resolveLeft, _) = P.pending()
        let (right, resolveRight, _) = P.pending()
        left.mapping {
            if right.outcome == nil { resolveRight($0) }
            return $0
        }
        right.mapping {
            if left.outcome == nil { resolveLeft($0) }
            return $0
        }
        scenario.thread("first") { resolveLeft(1) }
        scenario.thread("second") { resolveRight(2) }
        scenario.show(left)
    }
}
