/// The next operation of a thread in a random program. Numbers select the variables and locks.
package enum Instruction {
    case store(Int, value: Int, MemoryOrdering)
    case load(Int, MemoryOrdering)
    /// An atomic read-modify-write.
    case add(Int, value: Int, MemoryOrdering)
    case exchange(Int, value: Int, MemoryOrdering)
    /// Jumps if the variable is 0.
    case guardSet(Int, MemoryOrdering, otherwise: Int)
    /// Exchanges 0 for 1, or jumps if the variable is not 0.
    case claim(Int, MemoryOrdering, failing: MemoryOrdering, otherwise: Int)
    case fence(MemoryOrdering)
    /// Accesses to a plain variable.
    case write(value: Int)
    case read
    case lock(Int)
    /// Jumps behind the matching `unlock` if the lock is taken.
    case attempt(Int, otherwise: Int)
    case unlock(Int)
    case lockToRead
    case attemptToRead(otherwise: Int)
    case unlockToRead
    case signal
    case acquire
    case attemptToAcquire
    /// On the condition, whose lock this thread holds.
    case wait
    case wake(everybody: Bool)

    /// The locks: two plain ones, a readers-writer lock, and the lock of the condition.
    package static let (plain, readWrite, condition) = (0..<2, 2, 3)
}

/// Two or three threads with everything that they share. The same seed gives the same program on
/// every machine.
package struct RandomProgram: CustomStringConvertible {
    package private(set) var threads: [[Instruction]] = []
    package let hasMutexes: Bool
    private var numbers: RandomNumbers

    package init(seed: UInt64) {
        hasMutexes = seed % 2 == 1
        numbers = RandomNumbers(seed: seed)
        let count = below(3) == 0 ? 3 : 2
        for _ in 0..<count {
            var thread: [Instruction] = []
            while thread.count < (count == 2 ? 4 : 2) { add(to: &thread, within: []) }
            threads.append(thread)
        }
    }

    private mutating func below(_ bound: UInt64) -> Int { numbers.below(bound) }

    private mutating func ordering(_ allowed: [MemoryOrdering]) -> MemoryOrdering {
        allowed[below(UInt64(allowed.count))]
    }

    private mutating func add(to thread: inout [Instruction], within locks: [Int]) {
        switch below(locks.count < 2 ? 22 : 15) {
        case 0, 1: thread.append(.store(below(2), value: below(3), ordering(.ofStores)))
        case 2: thread.append(.load(below(2), ordering(.ofLoads)))
        case 3: thread.append(.fence(ordering(.ofFences)))
        case 9:
            thread.append(
                below(2) == 0
                    ? .add(below(2), value: 1, ordering(.all))
                    : .exchange(below(2), value: below(3), ordering(.all)))
        case 10, 11, 12: addGuarded(to: &thread, within: locks)
        case 13, 14:
            // What this thread writes before it sets a flag, another may access after reading it.
            thread.append(.write(value: 1 + below(2)))
            if below(2) == 0 { thread.append(.fence(ordering(.ofFences))) }
            thread.append(.store(below(2), value: 1, ordering(.ofStores)))
        case 4: thread.append(.write(value: 1 + below(2)))
        case 5: thread.append(.read)
        case 6: thread.append(.signal)
        case 7: thread.append(below(2) == 0 ? .acquire : .attemptToAcquire)
        case 8:
            let waits = locks.contains(Instruction.condition) && below(2) == 0
            thread.append(waits ? .wait : .wake(everybody: below(2) == 0))
        default: addSection(to: &thread, within: locks)
        }
    }

    /// Adds accesses that run only if a flag is set, or if this thread sets it.
    private mutating func addGuarded(to thread: inout [Instruction], within locks: [Int]) {
        let (variable, start) = (below(2), thread.count)
        let isClaim = below(3) == 0
        thread.append(.fence(.relaxed))
        if below(3) == 0 { thread.append(.fence(ordering(.ofFences))) }
        thread.append(below(2) == 0 ? .read : .write(value: 1 + below(2)))
        if isClaim, below(2) == 0 {
            thread.append(.store(variable, value: 0, ordering(.ofStores)))
        }
        thread[start] =
            isClaim
            ? .claim(
                variable, ordering(.all), failing: ordering(.ofLoads), otherwise: thread.count)
            : .guardSet(variable, ordering(.ofLoads), otherwise: thread.count)
    }

    private mutating func addSection(to thread: inout [Instruction], within locks: [Int]) {
        let (lock, start) = (below(4), thread.count)
        // Taking one of these locks again while holding it is an error of the program.
        if lock >= Instruction.readWrite, locks.contains(lock) { return }
        let isAttempt = lock != Instruction.condition && below(2) == 0
        let isReader = lock == Instruction.readWrite && below(2) == 0
        thread.append(isReader ? .lockToRead : .lock(lock))
        for _ in 0..<below(3) { add(to: &thread, within: locks + [lock]) }
        thread.append(isReader ? .unlockToRead : .unlock(lock))
        guard isAttempt else { return }
        thread[start] =
            isReader
            ? .attemptToRead(otherwise: thread.count)
            : .attempt(lock, otherwise: thread.count)
    }

    package var description: String {
        threads.map { "\($0)" }.joined(separator: "\n")
            .replacing("Models.Instruction.", with: "")
    }
}
