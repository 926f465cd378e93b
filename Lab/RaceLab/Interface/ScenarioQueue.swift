import CRaceLab
import Synchronization

extension Scenario {
    /// A queue of a scenario, made by ``Scenario/queue(_:workers:)``.
    ///
    /// Everything that a thread did before it sent a piece of work happens before that work, and a
    /// worker does one piece of work after the other. The queue orders nothing else. It can be used
    /// from any thread of the scenario, including its workers, and during the set-up.
    public final class Queue: @unchecked Sendable {
        private final class Item {
            let work: () -> Void

            init(_ work: @escaping () -> Void) {
                self.work = work
            }
        }

        private var items: [Item] = []
        private let lock = Mutex(())

        init() {}

        /// Sends `work` to the queue and returns. It will run once, on a worker of the queue.
        public func async(_ work: @escaping () -> Void) {
            let item = Item(work)
            rl_send(address, Unmanaged.passUnretained(item).toOpaque())
            unheard { lock.withLock { _ in items.append(item) } }
        }

        /// The body of a worker.
        func work() {
            while rl_await(address) {
                let item = unheard { lock.withLock { _ in items.removeFirst() } }
                rl_received(Unmanaged.passUnretained(item).toOpaque())
                item.work()
            }
        }

        private var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        /// Keeps the queue's own accesses from becoming steps.
        private func unheard<Result>(_ body: () -> Result) -> Result {
            rl_ignore()
            defer { rl_attend() }
            return body()
        }
    }
}
