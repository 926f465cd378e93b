import RaceLab
import Synchronization

/// A promise with one lock for each variable, and none for the decision.
final class Careless<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let handlers = Mutex<[@Sendable (Value) -> Void]>([])

    func fulfill(_ newValue: Value) {
        value.withLock { $0 = newValue }
        let waiting = handlers.withLock { $0 }
        for handler in waiting { handler(newValue) }
    }

    func then(_ handler: @escaping @Sendable (Value) -> Void) {
        if let value = value.withLock({ $0 }) {
            handler(value)
        } else {
            handlers.withLock { $0.append(handler) }
        }
    }
}

func careless(_ scenario: Scenario) {
    let promise = Careless<Int>()
    let log = Scenario.Log<Int>()
    scenario.thread("subscriber") { promise.then { log.append($0) } }
    scenario.thread("resolver") { promise.fulfill(1) }
    scenario.check { try Scenario.require(log.entries == [1], "the handler is lost or runs twice") }
    scenario.state("handler received") { "\(log.entries)" }
}
