import Dispatch
import Foundation
import PromiseOperators

struct H18: Hazard {
    let id = "H18"
    let name = "a wait for one's own queue"
    let story =
        "Work on a serial queue blocks until a promise is settled whose handler is queued right "
        + "behind it. It must be refused with an error, where it would wait for ever."

    func whatIsMissing(from subject: Subject) -> String? { withoutOperators(subject) }

    func runExpressible(on subject: Subject) -> Verdict { verdict { try run() } }

    /// Serial queues that the promise can recognise: one of ours, one that has been marked, and an
    /// operation queue that runs one at a time.
    private func run() throws -> String {
        let queue = SerialQueue(label: "H18")
        let marked = DispatchQueue(label: "H18, marked")
        _ = SerialQueue(marked)
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        for place in [queue, marked, operations] as [any Dispatcher] {
            // With a limit first: so a promise that does wait is found out, and hangs nobody.
            try requireRefusal(on: place) { _ = try $0.wait(atMost: .milliseconds(10)) }
            try requireRefusal(on: place) { _ = try $0.wait() }
        }
        return "refused with 'wouldWaitForItself', on each kind of queue"
    }

    private func requireRefusal(
        on place: any Dispatcher, _ wait: @escaping @Sendable (AWPromise<Int>) throws -> Void
    ) throws {
        let said = on(place) {
            do {
                try wait(AWPromise.fulfilled(1).then(on: place) { $0 })
                return "no error"
            } catch {
                return "\(error)"
            }
        }
        try require(
            said == "wouldWaitForItself", or: .waitsForEver, "on its own queue it waits: \(said)")
        // What need not be waited for is not refused, and the queue has not been blocked.
        let settled = on(place) { (try? AWPromise.fulfilled(2).wait()) == 2 ? "2" : "refused" }
        try require(settled == "2", or: .wrongValue, "a settled promise is refused as well")
    }

    private func on(
        _ place: any Dispatcher, _ work: @escaping @Sendable () -> String
    ) -> String {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var answer = ""
        place.dispatch {
            answer = work()
            done.signal()
        }
        done.wait()
        return answer
    }
}
