import Foundation
import Models
import RaceLab
import Synchronization

extension RandomProgram {
    /// The program for the lab.
    func describe(_ scenario: Scenario) {
        let things = Things(hasMutexes: hasMutexes)
        let seen = threads.map { _ in Seen() }
        for (index, instructions) in threads.enumerated() {
            scenario.thread("\(index)") {
                var at = 0
                while at < instructions.count {
                    at = things.carryOut(instructions[at], at: at, seen[index])
                }
            }
        }
        scenario.outcome { seen.map(\.text).joined(separator: " | ") }
    }

    /// What the threads share.
    private final class Things {
        let variables = [OrderedAtomic(), OrderedAtomic()]
        let shared = Shared()
        let locks: [any Takeable]
        let readWrite = ReadWriteLock()
        let condition = NSCondition()
        let semaphore = DispatchSemaphore(value: 0)

        init(hasMutexes: Bool) {
            locks = hasMutexes ? [MutexLock(), MutexLock()] : [NSLock(), NSLock()]
        }

        /// Returns the index of the next instruction.
        func carryOut(_ instruction: Instruction, at index: Int, _ seen: Seen) -> Int {
            switch instruction {
            case .store(let variable, let value, let ordering):
                variables[variable].store(value, ordering)
            case .load(let variable, let ordering):
                seen.note("\(variables[variable].load(ordering))")
            case .add(let variable, let value, let ordering):
                seen.note("\(variables[variable].add(value, ordering))")
            case .exchange(let variable, let value, let ordering):
                seen.note("\(variables[variable].exchange(value, ordering))")
            case .guardSet(let variable, let ordering, let otherwise):
                if variables[variable].load(ordering) == 0 { return otherwise }
                seen.note("set")
            case .claim(let variable, let ordering, let failing, let otherwise):
                if !variables[variable].claim(ordering, failing) { return otherwise }
                seen.note("claimed")
            case .fence(let ordering): ordering.fence()
            case .write(let value): shared.value = value
            case .read: seen.note("\(shared.value)")
            case .lock(Instruction.readWrite): readWrite.lockToWrite()
            case .lock(Instruction.condition): condition.lock()
            case .lock(let lock): locks[lock].lock()
            case .attempt(let lock, let otherwise):
                let isPlain = Instruction.plain.contains(lock)
                let isTaken = isPlain ? locks[lock].try() : readWrite.tryToWrite()
                seen.note("\(isTaken)")
                if !isTaken { return otherwise }
            case .unlock(Instruction.readWrite), .unlockToRead: readWrite.unlock()
            case .unlock(Instruction.condition): condition.unlock()
            case .unlock(let lock): locks[lock].unlock()
            case .lockToRead: readWrite.lockToRead()
            case .attemptToRead(let otherwise):
                let isTaken = readWrite.tryToRead()
                seen.note("\(isTaken)")
                if !isTaken { return otherwise }
            case .signal: semaphore.signal()
            case .acquire: semaphore.wait()
            case .attemptToAcquire:
                seen.note(semaphore.wait(timeout: .now()) == .success ? "got it" : "none")
            case .wait: condition.wait()
            case .wake(let everybody):
                if everybody { condition.broadcast() } else { condition.signal() }
            }
            return index + 1
        }
    }
}

protocol Takeable {
    func lock()
    func `try`() -> Bool
    func unlock()
}

extension NSLock: Takeable {}
extension NSRecursiveLock: Takeable {}

private final class MutexLock: Takeable {
    private let mutex = Mutex(())

    func lock() { mutex._unsafeLock() }
    func `try`() -> Bool { mutex._unsafeTryLock() }
    func unlock() { mutex._unsafeUnlock() }
}
