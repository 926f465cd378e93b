import Dispatch
import RaceLab
import Stage1Naive

/// The promise of Stage 1, used on one serial queue only. The compiler cannot verify that: it
/// believes the word `@unchecked`.
final class Confined: @unchecked Sendable {
    private let queue = DispatchQueue(label: "promise")
    private let promise: AWPromise<Int>
    private var resolve: (Int) -> Void = { _ in }

    init() {
        var function: (Int) -> Void = { _ in }
        promise = AWPromise { resolve, _ in function = resolve }
        resolve = function
    }

    func then(_ handler: @escaping @Sendable (Int) -> Void) {
        queue.async { self.promise.then(handler) }
    }

    func fulfill(_ value: Int) {
        queue.async { self.resolve(value) }
    }

    /// Forgets the queue.
    func fulfillHere(_ value: Int) {
        resolve(value)
    }
}

func confined(_ scenario: Scenario) {
    let promise = Confined()
    let log = Scenario.Log<Int>()
    scenario.thread("subscriber") { promise.then { log.append($0) } }
    scenario.thread("resolver") { promise.fulfill(1) }
    scenario.check { try Scenario.require(log.entries == [1], "the handler is lost or runs twice") }
}

func almostConfined(_ scenario: Scenario) {
    let promise = Confined()
    let log = Scenario.Log<Int>()
    scenario.thread("subscriber") { promise.then { log.append($0) } }
    scenario.thread("resolver") { promise.fulfillHere(1) }
    scenario.check { try Scenario.require(log.entries == [1], "the handler is lost or runs twice") }
}
