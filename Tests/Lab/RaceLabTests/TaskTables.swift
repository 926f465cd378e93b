import Dispatch
import RaceLab

// Tests compare the tables of these scenarios exactly, so line numbers matter.

private actor Account {
    private var balance = 0

    func wait(for payment: Payment) { payment.wait() }
    func deposit() { balance += 1 }
}

/// A semaphore for asynchronous code.
private final class Payment: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { semaphore.wait() }
    func arrives() { semaphore.signal() }
}

/// A task waits on an actor for another task, which waits for that actor.
@Sendable func waitForActor(_ scenario: Scenario) {
    let account = Account()
    let payment = Payment()
    scenario.task("A") { await account.wait(for: payment) }
    scenario.task("B") {
        await account.deposit()
        payment.arrives()
    }
}

@Sendable func receiveFromStream(_ scenario: Scenario) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    scenario.task("A") {
        for await _ in stream {}
    }
    scenario.task("B") {
        continuation.yield(1)
        continuation.finish()
    }
}

@Sendable func receiveFromThrowingStream(_ scenario: Scenario) {
    let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
    scenario.task("A") {
        for try await _ in stream {}
    }
    scenario.task("B") { continuation.yield(1) }
    let kept = Shelf<AsyncThrowingStream<Int, any Error>.Continuation>()
    kept.put(continuation)
}
