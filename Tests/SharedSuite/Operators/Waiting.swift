import Dispatch
import Foundation
import PromiseOperators

struct H18: Hazard {
    let id = "H18"
    let name = "waiting for one's own queue"
    let story =
        "Work on a serial queue blocks until a promise is settled, but the handler that "
        + "settles it is next in the same queue. The wait must fail with an error instead of "
        + "blocking forever."

    func whatIsMissing(from subject: Subject) -> String? { withoutOperators(subject) }

    func runExpressible(on subject: Subject) -> Verdict { verdict { try run() } }

    /// Tries the serial queues that the promise can recognize: a `SerialQueue`, a marked queue, and an
    /// operation queue that runs one operation at a time.
    private func run() throws -> String {
        let queue = SerialQueue(label: "H18")
        let marked = DispatchQueue(label: "H18, marked")
        _ = SerialQueue(marked)
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        for place in [queue, marked, operations] as [any Dispatcher] {
            // With a time limit first, so that a promise that waits does not block the process.
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
            said == "wouldWaitForItself", or: .waitsForEver, "it waits on its own queue: \(said)")
        // A settled promise does not refuse, and the queue is not blocked.
        let settled = on(place) { (try? AWPromise.fulfilled(2).wait()) == 2 ? "2" : "refused" }
        try require(settled == "2", or: .wrongValue, "a settled promise is refused, too")
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
