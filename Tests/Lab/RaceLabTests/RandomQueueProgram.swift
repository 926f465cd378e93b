import Foundation
import Models
import RaceLab
import Synchronization

extension RandomQueueProgram {
    func describe(_ scenario: Scenario) {
        let things = Things(bodies)
        for index in 0..<threadCount {
            scenario.thread("\(index)") { things.carryOut(index) }
        }
        scenario.outcome { things.seen.map(\.text).joined(separator: " | ") }
    }

    /// What the bodies share.
    private final class Things: @unchecked Sendable {
        let bodies: [[QueueInstruction]]
        let seen: [Seen]
        let threads: Threads
        let variables = [Box(Atomic(0)), Box(Atomic(0))]
        let shared = Shared()
        let locks: [any Lockable] = [NSLock(), NSRecursiveLock()]
        let readWrite = ReadWriteLock()
        let condition = NSCondition()
        let semaphore = DispatchSemaphore(value: 0)
        let queues = [
            DispatchQueue(label: "serial"),
            DispatchQueue(label: "concurrent", attributes: .concurrent), .main,
        ]
        let group = DispatchGroup()

        init(_ bodies: [[QueueInstruction]]) {
            self.bodies = bodies
            seen = bodies.map { _ in Seen() }
            threads = Threads(count: bodies.count)
        }

        func carryOut(_ body: Int) {
            carryOut(body, 0..<bodies[body].count)
            for case .start(let other) in bodies[body] { threads.detach(other) }
        }

        /// Longer than any delay. Otherwise that of another thread could pass right before a wait,
        /// which would then be an attempt.
        private let century: TimeInterval = 100 * 365 * 24 * 3600

        private func carryOut(_ body: Int, _ range: Range<Int>) {
            var at = range.lowerBound
            while at < range.upperBound { at = carryOutOne(body, at) }
        }

        /// Returns the index of the next instruction.
        private func carryOutOne(_ body: Int, _ index: Int) -> Int {
            let seen = seen[body]
            switch bodies[body][index] {
            case .store(let variable, let value):
                variables[variable].value.store(value, ordering: .relaxed)
            case .load(let variable):
                seen.note("\(variables[variable].value.load(ordering: .relaxed))")
            case .write(let value): shared.value = value
            case .read: seen.note("\(shared.value)")
            case .lock(QueueInstruction.conditionLock, _, _): condition.lock()
            case .lock(QueueInstruction.readWriteLock, .unlimited, _): readWrite.lockToWrite()
            case .lock(QueueInstruction.readWriteLock, _, let otherwise):
                if !note(readWrite.tryToWrite(), seen) { return otherwise }
            case .lockToRead(.unlimited, _): readWrite.lockToRead()
            case .lockToRead(_, let otherwise):
                if !note(readWrite.tryToRead(), seen) { return otherwise }
            case .unlock(QueueInstruction.readWriteLock), .unlockToRead: readWrite.unlock()
            case .lock(let lock, let patience, let otherwise):
                if !take(locks[lock], patience, seen) { return otherwise }
            case .unlock(QueueInstruction.conditionLock): condition.unlock()
            case .unlock(let lock): locks[lock].unlock()
            case .signal: semaphore.signal()
            case .acquire(let patience): acquire(patience, seen)
            case .wait(.unlimited): condition.wait()
            case .wait: seen.note("\(condition.wait(until: Date() + century))")
            case .wake(let everybody):
                if everybody { condition.broadcast() } else { condition.signal() }
            case .start(let other): threads.start(other) { self.carryOut(other) }
            case .join(let other): threads.join(other)
            case .send(let other, let queue, let barrier, let isInGroup):
                queues[queue].async(
                    group: isInGroup ? group : nil, flags: barrier ? .barrier : []
                ) { self.carryOut(other) }
            case .sendLater(let other, let queue):
                queues[queue].asyncAfter(deadline: .now() + 3600) { self.carryOut(other) }
            case .enterGroup(let isForWork): if !isForWork { group.enter() }
            case .leaveGroup(let isForWork): if !isForWork { group.leave() }
            case .waitForGroup(let patience): waitForGroup(patience, seen)
            case .notify(let other, let queue):
                group.notify(queue: queues[queue]) { self.carryOut(other) }
            case .perform(let first, let second):
                DispatchQueue.concurrentPerform(iterations: 2) { number in
                    carryOut(number == 0 ? first : second)
                }
            case .performed: break
            case .enter(let queue, let barrier, let end):
                queues[queue].sync(flags: barrier ? .barrier : []) {
                    carryOut(body, (index + 1)..<end)
                }
                return end + 1
            case .leave: break
            }
            return index + 1
        }

        private func take(
            _ lock: any Lockable, _ patience: QueueInstruction.Patience, _ seen: Seen
        ) -> Bool {
            if patience == .unlimited {
                lock.lock()
                return true
            }
            return note(patience == .none ? lock.try() : lock.lock(before: Date() + century), seen)
        }

        private func note(_ isTaken: Bool, _ seen: Seen) -> Bool {
            seen.note("\(isTaken)")
            return isTaken
        }

        private func waitForGroup(_ patience: QueueInstruction.Patience, _ seen: Seen) {
            if patience == .unlimited { return group.wait() }
            let timeout = patience == .none ? DispatchTime.now() : .now() + century
            seen.note("\(group.wait(timeout: timeout) == .success)")
        }

        private func acquire(_ patience: QueueInstruction.Patience, _ seen: Seen) {
            if patience == .unlimited { return semaphore.wait() }
            let timeout = patience == .none ? DispatchTime.now() : .now() + century
            seen.note("\(semaphore.wait(timeout: timeout) == .success)")
        }
    }

    /// The threads that bodies have started, stored where the lab does not see them.
    private final class Threads: @unchecked Sendable {
        private let threads: UnsafeMutableBufferPointer<pthread_t?>

        init(count: Int) {
            threads = .allocate(capacity: count)
            threads.initialize(repeating: nil)
        }

        deinit { threads.deallocate() }

        func start(_ index: Int, _ body: @escaping () -> Void) {
            threads[index] = ThreadEntryPointTests.start(body)
        }

        func join(_ index: Int) {
            guard let thread = threads[index] else { return }
            threads[index] = nil
            pthread_join(thread, nil)
        }

        func detach(_ index: Int) {
            guard let thread = threads[index] else { return }
            threads[index] = nil
            pthread_detach(thread)
        }
    }
}

private protocol Lockable {
    func lock()
    func `try`() -> Bool
    func lock(before limit: Date) -> Bool
    func unlock()
}

extension NSLock: Lockable {}
extension NSRecursiveLock: Lockable {}
