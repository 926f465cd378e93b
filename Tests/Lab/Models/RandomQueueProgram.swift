/// An instruction of a thread, or of work on a queue. The instructions of either are a body; the
/// bodies of the threads with which a program begins come first.
package enum QueueInstruction {
    /// How long to wait: without a limit, not at all, or until a moment in the distant
    /// future.
    package enum Patience: CaseIterable {
        case unlimited, none, limited
    }

    case store(Int, value: Int)
    case load(Int)
    /// Accesses to a plain variable.
    case write(value: Int)
    case read
    /// Jumps behind the matching `unlock` if it does not get the lock.
    case lock(Int, Patience, otherwise: Int)
    case unlock(Int)
    /// The same for the readers-writer lock.
    case lockToRead(Patience, otherwise: Int)
    case unlockToRead
    case signal
    case acquire(Patience)
    /// On the condition, whose lock this body holds.
    case wait(Patience)
    case wake(everybody: Bool)
    case start(body: Int)
    case join(body: Int)
    /// Sends a body to a queue, as part of the group or not. Separate instructions enter the group,
    /// and leave it when the body has ended.
    case send(body: Int, queue: Int, barrier: Bool, inGroup: Bool)
    /// Sends a body to a queue at any later time.
    case sendLater(body: Int, queue: Int)
    /// `forWork`: it belongs to a body that is sent as part of the group.
    case enterGroup(forWork: Bool)
    case leaveGroup(forWork: Bool)
    case waitForGroup(Patience)
    /// Sends a body to a queue when the group has finished.
    case notify(body: Int, queue: Int)
    /// Runs two bodies concurrently …
    case perform(Int, Int)
    /// … and waits for their ends.
    case performed(Int, Int)
    /// Waits for a queue, and runs on it the instructions up to the `leave` at `end`.
    case enter(queue: Int, barrier: Bool, end: Int)
    case leave(queue: Int)

    package static let (recursiveLock, conditionLock, readWriteLock) = (1, 2, 3)
    package static let (serial, concurrent, main) = (0, 1, 2)

    static func isSerial(_ queue: Int) -> Bool { queue != concurrent }
}

/// Two or three threads that start others, and send work to a serial queue, a concurrent one and the
/// main queue, at once, later, or when a group has finished.
package struct RandomQueueProgram: CustomStringConvertible {
    package private(set) var bodies: [[QueueInstruction]] = []
    /// The number of bodies that are initial threads.
    package let threadCount: Int
    private var numbers: RandomNumbers
    /// The number of bodies mentioned so far.
    private var bodyCount: Int
    /// The bodies that are sent as part of the group.
    private var bodiesInGroup: Set<Int> = []
    /// Whether about half of the instructions use the group.
    private let isAboutGroup: Bool

    /// With more bodies there would be too many interleavings to explore.
    private static let mostBodies = 4

    package init(seed: UInt64) {
        numbers = RandomNumbers(seed: seed)
        threadCount = numbers.isOneOf(4) ? 3 : 2
        isAboutGroup = seed % 2 == 1
        bodyCount = threadCount
        while bodies.count < bodyCount {
            let isFirst = bodies.count < threadCount
            let entersGroup = isFirst && isAboutGroup
            let length = !isFirst ? 1 + numbers.below(2) : threadCount == 2 ? 3 : 1
            var body = Draft()
            if entersGroup { body.instructions.append(.enterGroup(forWork: false)) }
            if entersGroup, bodies.isEmpty { addNotification(to: &body) }
            while body.instructions.count < length { add(to: &body) }
            if entersGroup { body.instructions.append(.leaveGroup(forWork: false)) }
            if bodiesInGroup.contains(bodies.count) {
                body.instructions.append(.leaveGroup(forWork: true))
            }
            bodies.append(body.instructions)
        }
    }

    // MARK: - Making one up

    /// An incomplete body.
    private struct Draft {
        var instructions: [QueueInstruction] = []
        /// The locks that it holds, or would hold if it had acquired them.
        var locks: [Int] = []
        var depth = 0
        /// The threads that it has started but not joined.
        var started: [Int] = []
    }

    private mutating func add(to body: inout Draft) {
        if isAboutGroup, numbers.isOneOf(2) { return addUseOfGroup(to: &body) }
        switch numbers.below(body.depth < 2 ? 24 : 13) {
        case 0: body.instructions.append(.store(numbers.below(2), value: 1 + numbers.below(2)))
        case 1: body.instructions.append(.load(numbers.below(2)))
        case 2: body.instructions.append(.write(value: 1 + numbers.below(2)))
        case 3: body.instructions.append(.read)
        case 4: body.instructions.append(.signal)
        case 5: body.instructions.append(.acquire(patience()))
        case 6: addCondition(to: &body)
        case 7: addThread(to: &body)
        case 8: addWork(to: &body)
        case 9: body.instructions.append(.waitForGroup(patience()))
        case 10: addNotification(to: &body)
        case 11: addDelayedWork(to: &body)
        case 12: addPerformance(to: &body)
        case 13, 14, 15: addWork(to: &body)
        case 16, 17: addGroupSection(to: &body)
        case 18, 19, 20: addSection(to: &body)
        default: addSync(to: &body)
        }
    }

    private mutating func patience() -> QueueInstruction.Patience {
        QueueInstruction.Patience.allCases[numbers.below(3)]
    }

    private mutating func newBody() -> Int? {
        guard bodyCount < RandomQueueProgram.mostBodies else { return nil }
        bodyCount += 1
        return bodyCount - 1
    }

    private mutating func addCondition(to body: inout Draft) {
        let mayWait = body.locks.contains(QueueInstruction.conditionLock)
        if mayWait, numbers.isOneOf(2) {
            body.instructions.append(.wait(numbers.isOneOf(2) ? .limited : .unlimited))
        } else {
            body.instructions.append(.wake(everybody: numbers.isOneOf(2)))
        }
    }

    private mutating func addThread(to body: inout Draft) {
        if !body.started.isEmpty, numbers.isOneOf(2) {
            body.instructions.append(.join(body: body.started.removeFirst()))
        } else if let other = newBody() {
            body.instructions.append(.start(body: other))
            // In a section this instruction may be skipped, and then there is no thread to join.
            if body.depth == 0 { body.started.append(other) }
        }
    }

    private mutating func addUseOfGroup(to body: inout Draft) {
        switch numbers.below(body.depth < 2 ? 6 : 4) {
        case 0: body.instructions.append(.waitForGroup(patience()))
        case 1: addNotification(to: &body)
        case 2: addWork(to: &body, inGroup: true)
        case 3: body.instructions.append(.read)
        default: addGroupSection(to: &body)
        }
    }

    private mutating func addWork(to body: inout Draft, inGroup: Bool = false) {
        guard let other = newBody() else { return }
        let isInGroup = inGroup || numbers.isOneOf(3)
        if isInGroup {
            bodiesInGroup.insert(other)
            body.instructions.append(.enterGroup(forWork: true))
        }
        body.instructions.append(
            .send(
                body: other, queue: numbers.below(3), barrier: numbers.isOneOf(3),
                inGroup: isInGroup))
    }

    private mutating func addNotification(to body: inout Draft) {
        guard let other = newBody() else { return }
        body.instructions.append(.notify(body: other, queue: numbers.below(3)))
    }

    private mutating func addDelayedWork(to body: inout Draft) {
        guard let other = newBody() else { return }
        body.instructions.append(.sendLater(body: other, queue: numbers.below(3)))
    }

    private mutating func addPerformance(to body: inout Draft) {
        guard bodyCount + 2 <= RandomQueueProgram.mostBodies, let first = newBody(),
            let second = newBody()
        else { return }
        body.instructions += [.perform(first, second), .performed(first, second)]
    }

    private mutating func addGroupSection(to body: inout Draft) {
        body.instructions.append(.enterGroup(forWork: false))
        addInside(to: &body)
        body.instructions.append(.leaveGroup(forWork: false))
    }

    private mutating func addSection(to body: inout Draft) {
        let (lock, start) = (numbers.below(4), body.instructions.count)
        // Taking one of these locks again while holding it is an error of the program.
        if lock >= QueueInstruction.conditionLock, body.locks.contains(lock) { return }
        let isReadWrite = lock == QueueInstruction.readWriteLock
        let isReader = isReadWrite && numbers.isOneOf(2)
        var patience = lock == QueueInstruction.conditionLock ? .unlimited : patience()
        if isReadWrite, patience == .limited { patience = .unlimited }
        body.instructions.append(.unlock(lock))
        body.locks.append(lock)
        addInside(to: &body)
        body.locks.removeLast()
        body.instructions.append(isReader ? .unlockToRead : .unlock(lock))
        let otherwise = body.instructions.count
        body.instructions[start] =
            isReader
            ? .lockToRead(patience, otherwise: otherwise)
            : .lock(lock, patience, otherwise: otherwise)
    }

    private mutating func addSync(to body: inout Draft) {
        let (queue, start) = (numbers.below(2), body.instructions.count)
        body.instructions.append(.leave(queue: queue))
        addInside(to: &body)
        body.instructions[start] = .enter(
            queue: queue, barrier: numbers.isOneOf(2), end: body.instructions.count)
        body.instructions.append(.leave(queue: queue))
    }

    private mutating func addInside(to body: inout Draft) {
        body.depth += 1
        for _ in 0..<numbers.below(3) { add(to: &body) }
        body.depth -= 1
    }

    package var description: String {
        bodies.enumerated().map { "\($0): \($1)" }.joined(separator: "\n")
            .replacing("Models.QueueInstruction.", with: "")
            .replacing("Patience.", with: "")
    }
}
