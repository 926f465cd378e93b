/// Explores every order in which the bodies of a program can execute, one step at a time. Releasing
/// a lock, and entering and leaving a queue, are separate steps.
///
/// A body that waits for the concurrent queue has a place in its line, like work that is sent there.
/// A body that waits for another queue runs after the work that it knows was sent there. A body knows
/// about work that it has sent, and about what the body that started or sent it knew. Locks, atomics,
/// semaphores, queues and the ends of threads pass this knowledge on.
package struct QueueModel {
    /// The work that is known to have been sent: a bit for each body.
    fileprivate typealias News = UInt8

    fileprivate struct Lock: Hashable {
        var owner: Int?
        /// The number of releases that the owner still has to make.
        var depth = 0
        var news: News = 0
    }

    fileprivate struct Queue: Hashable {
        /// The work that was sent and has not ended, and the bodies that have come to a concurrent
        /// queue, in the order of their arrival.
        var line: [Work] = []
        /// The body that has exclusive access.
        var owner: Int?
        /// The bodies that share the queue; one that enters twice is listed twice.
        var guests: [Int] = []
        var news: News = 0
        /// What guests pass on to the next owner, but not to other guests.
        var newsOfGuests: News = 0
    }

    fileprivate struct Work: Hashable {
        let body: Int
        /// Whether it needs exclusive access.
        let isAlone: Bool
    }

    /// Work that will be sent to a queue.
    fileprivate struct Order: Hashable {
        let body: Int
        let queue: Int
        /// What it knows in addition to what its sender knows.
        var news: News
    }

    /// The state between two steps.
    fileprivate struct State: Hashable {
        /// The index of the next instruction of each body.
        var at: [Int]
        /// The bodies that are started threads, or work that has begun.
        var begun: Set<Int>
        var seen: [[String]]
        /// What each body knows about.
        var heard: [News]
        /// The bodies that stand in a line, and are about to enter the queue.
        var isInLine: Set<Int> = []
        var variables = [0, 0]
        var newsOfVariables: [News] = [0, 0]
        var plain = 0
        var locks = [Lock(), Lock(), Lock(), Lock()]
        /// The bodies that have taken the readers-writer lock to read.
        var readers: Set<Int> = []
        /// What readers pass on to the next writer.
        var newsOfReaders: News = 0
        var count = 0
        var newsOfSemaphore: News = 0
        /// The bodies that wait on the condition, in the order of their arrival.
        var asleep: [Int] = []
        /// The bodies that must reacquire the condition's lock: whether each was woken in time.
        var awake: [Int: Bool] = [:]
        var queues = [Queue(), Queue(), Queue()]
        /// The number of entries that have not left the group.
        var unfinished = 0
        var newsOfGroup: News = 0
        /// The work to send when the group has finished.
        var notifications: [Order] = []
        /// The work that each body must send before its next instruction.
        var orders: [Int: [Order]] = [:]
        /// The work that can come to its queue at any later time.
        var delayed: Set<Order> = []
    }

    package static let deadlock = "deadlock"

    /// The possible outcomes of a program, including "deadlock".
    package private(set) var outcomes: Set<String> = []
    /// Whether some execution has a data race: two bodies are about to access the plain variable,
    /// at least one of them to write.
    package private(set) var hasRace = false
    private let program: RandomQueueProgram
    private let isLoose: Bool

    /// - Parameter isLoose: whether time-outs, failing attempts and spurious wakeups are possible
    ///   at any time.
    package init(_ program: RandomQueueProgram, isLoose: Bool = false) {
        self.program = program
        self.isLoose = isLoose
        let count = program.bodies.count
        let begin = State(
            at: Array(repeating: 0, count: count), begun: Set(0..<program.threadCount),
            seen: Array(repeating: [], count: count), heard: Array(repeating: 0, count: count))
        var open = [begin]
        var known: Set = [begin]
        while let state = open.popLast() {
            let next = successors(of: state)
            if next.isEmpty { outcomes.insert(outcome(of: state)) }
            if isRace(state) { hasRace = true }
            open += next.filter { known.insert($0).inserted }
        }
    }

    private func successors(of state: State) -> [State] {
        let bodies = Array(program.bodies.indices)
        let steps =
            bodies.compactMap { step(of: $0, in: state) }
            + state.delayed.map { arriving($0, in: state) }
        // A time-out fires only if no step is possible.
        guard steps.isEmpty || isLoose else { return steps }
        return steps + bodies.compactMap { withoutWaiting($0, in: state) }
    }

    private func outcome(of state: State) -> String {
        let isOver = state.begun.allSatisfy { self.isOver($0, in: state) }
        return isOver && state.queues.allSatisfy(\.line.isEmpty)
            ? state.seen.map { $0.joined(separator: " ") }.joined(separator: " | ")
            : QueueModel.deadlock
    }

    private func isOver(_ body: Int, in state: State) -> Bool {
        state.at[body] == program.bodies[body].count && state.orders[body] == nil
    }

    private func isRace(_ state: State) -> Bool {
        var (readers, writers) = (0, 0)
        for body in state.begun where !isOver(body, in: state) && state.orders[body] == nil {
            switch program.bodies[body][state.at[body]] {
            case .read: readers += 1
            case .write: writers += 1
            default: break
            }
        }
        return writers > 1 || (writers == 1 && readers > 0)
    }

    // MARK: - One step

    /// The state after the next step of a body; `nil` if the body has ended, or waits.
    private func step(of body: Int, in before: State) -> State? {
        guard before.begun.contains(body) else { return begin(body, in: before) }
        guard !isOver(body, in: before) else { return endOfWork(body, in: before) }
        if let orders = before.orders[body] { return carryingOut(orders, body, in: before) }
        if before.asleep.contains(body) {
            return isLoose ? awake(body, inTime: true, before) : nil
        }
        var state = before
        state.at[body] += 1
        switch program.bodies[body][before.at[body]] {
        case .store(let variable, let value):
            state.variables[variable] = value
            state.heard[body] |= state.newsOfVariables[variable]
            state.newsOfVariables[variable] = state.heard[body]
        case .load(let variable):
            state.seen[body].append("\(state.variables[variable])")
            state.heard[body] |= state.newsOfVariables[variable]
        case .write(let value): state.plain = value
        case .read: state.seen[body].append("\(state.plain)")
        case .lock(let lock, let patience, let otherwise):
            if state.take(lock, for: body) {
                if patience != .unlimited { state.seen[body].append("true") }
            } else {
                guard patience == .none else { return nil }
                state.seen[body].append("false")
                state.at[body] = otherwise
            }
        case .unlock(let lock): state.release(lock, by: body)
        case .lockToRead(let patience, let otherwise):
            let isTaken = state.takeToRead(for: body)
            guard isTaken || patience == .none else { return nil }
            if patience == .none { state.seen[body].append("\(isTaken)") }
            if !isTaken { state.at[body] = otherwise }
        case .unlockToRead:
            state.readers.remove(body)
            state.newsOfReaders |= state.heard[body]
        case .signal:
            state.count += 1
            state.newsOfSemaphore |= state.heard[body]
        case .acquire(let patience):
            if state.count > 0 {
                state.count -= 1
                state.heard[body] |= state.newsOfSemaphore
                if patience != .unlimited { state.seen[body].append("true") }
            } else {
                guard patience == .none else { return nil }
                state.seen[body].append("false")
            }
        case .wait(let patience): return waiting(body, patience, in: before)
        case .wake(let everybody):
            for sleeper in everybody ? state.asleep[...] : state.asleep.prefix(1) {
                state = awake(sleeper, inTime: true, state)
            }
        case .start(let other):
            state.begun.insert(other)
            state.heard[other] = state.heard[body]
        case .join(let other):
            guard isOver(other, in: state) else { return nil }
            state.heard[body] |= state.heard[other]
        case .send(let other, let queue, let barrier, _):
            state.send(Order(body: other, queue: queue, news: 0), barrier: barrier, by: body)
        case .sendLater(let other, let queue):
            state.delayed.insert(Order(body: other, queue: queue, news: state.heard[body]))
        case .enterGroup: state.unfinished += 1
        case .leaveGroup:
            state.unfinished -= 1
            state.newsOfGroup |= state.heard[body]
            if state.unfinished == 0, !state.notifications.isEmpty {
                state.orders[body] = state.notifications.map {
                    Order(body: $0.body, queue: $0.queue, news: $0.news | state.newsOfGroup)
                }
                state.notifications = []
            }
        case .waitForGroup(let patience):
            if state.unfinished == 0 {
                state.heard[body] |= state.newsOfGroup
                if patience != .unlimited { state.seen[body].append("true") }
            } else {
                guard patience == .none else { return nil }
                state.seen[body].append("false")
            }
        case .notify(let other, let queue):
            var order = Order(body: other, queue: queue, news: state.heard[body])
            if state.unfinished == 0 {
                order.news |= state.newsOfGroup
                state.orders[body] = [order]
            } else {
                state.notifications.append(order)
            }
        case .perform(let first, let second):
            state.begun.formUnion([first, second])
            for other in [first, second] { state.heard[other] = state.heard[body] }
        case .performed(let first, let second):
            guard isOver(first, in: state), isOver(second, in: state) else { return nil }
            state.heard[body] |= state.heard[first] | state.heard[second]
        case .enter(let queue, let barrier, _):
            let isAlone = barrier || QueueInstruction.isSerial(queue)
            guard let line = state.line(of: body, before: queue, isAlone: isAlone) else {
                state.at[body] -= 1
                return state
            }
            guard state.enter(queue, body, isAlone: isAlone, behind: line) else { return nil }
        case .leave(let queue):
            state.leave(queue, body)
            state.leaveLine(of: queue, body)
        }
        return state
    }

    /// The state after a time-out, a spurious wakeup or a failed attempt of a body; `nil` if none
    /// of them is possible.
    private func withoutWaiting(_ body: Int, in before: State) -> State? {
        guard before.begun.contains(body), !isOver(body, in: before), before.orders[body] == nil
        else { return nil }
        var state = before
        switch program.bodies[body][before.at[body]] {
        case .wait(.limited):
            return before.asleep.contains(body) ? awake(body, inTime: false, before) : nil
        case .lock(_, let patience, let otherwise), .lockToRead(let patience, let otherwise):
            if patience == .unlimited { return nil }
            state.at[body] = otherwise
        case .acquire(let patience), .waitForGroup(let patience):
            if patience == .unlimited { return nil }
            state.at[body] += 1
        default: return nil
        }
        state.seen[body].append("false")
        return state
    }

    // MARK: - The condition

    private func awake(_ body: Int, inTime: Bool, _ before: State) -> State {
        var state = before
        state.asleep.removeAll { $0 == body }
        state.awake[body] = inTime
        return state
    }

    /// Waiting takes two steps: releasing the lock to sleep, and reacquiring it.
    private func waiting(
        _ body: Int, _ patience: QueueInstruction.Patience, in before: State
    ) -> State? {
        var state = before
        guard let isInTime = state.awake[body] else {
            state.release(QueueInstruction.conditionLock, by: body)
            state.asleep.append(body)
            return state
        }
        guard state.take(QueueInstruction.conditionLock, for: body) else { return nil }
        state.awake[body] = nil
        state.at[body] += 1
        if patience == .limited { state.seen[body].append("\(isInTime)") }
        return state
    }

    // MARK: - Work

    /// The state after the first of the orders of a body.
    private func carryingOut(_ orders: [Order], _ body: Int, in before: State) -> State {
        var state = before
        state.orders[body] = orders.count == 1 ? nil : Array(orders.dropFirst())
        state.send(orders[0], barrier: false, by: body)
        return state
    }

    /// The state after delayed work has come to its queue.
    private func arriving(_ order: Order, in before: State) -> State {
        var state = before
        state.delayed.remove(order)
        state.send(order, barrier: false, by: nil)
        return state
    }

    private func begin(_ body: Int, in before: State) -> State? {
        for (number, queue) in before.queues.enumerated() {
            guard let place = queue.line.firstIndex(where: { $0.body == body }) else { continue }
            var state = before
            let isAlone = queue.line[place].isAlone
            let earlier = queue.line.prefix(upTo: place)
            guard state.enter(number, body, isAlone: isAlone, behind: Array(earlier))
            else { return nil }
            state.begun.insert(body)
            return state
        }
        return nil
    }

    private func endOfWork(_ body: Int, in before: State) -> State? {
        for (number, queue) in before.queues.enumerated() {
            guard let place = queue.line.firstIndex(where: { $0.body == body }) else { continue }
            var state = before
            state.leave(number, body)
            state.queues[number].line.remove(at: place)
            return state
        }
        return nil
    }
}

extension QueueModel.State {
    /// - Parameter body: the sender, if the work has one.
    fileprivate mutating func send(_ order: QueueModel.Order, barrier: Bool, by body: Int?) {
        let isAlone = barrier || QueueInstruction.isSerial(order.queue)
        queues[order.queue].line.append(QueueModel.Work(body: order.body, isAlone: isAlone))
        if let body { heard[body] |= 1 << order.body }
        heard[order.body] = order.news | 1 << order.body | (body.map { heard[$0] } ?? 0)
    }

    /// Returns whether a body has acquired a lock.
    fileprivate mutating func take(_ lock: Int, for body: Int) -> Bool {
        let isAgain = lock == QueueInstruction.recursiveLock && locks[lock].owner == body
        guard locks[lock].owner == nil || isAgain else { return false }
        if lock == QueueInstruction.readWriteLock {
            guard readers.isEmpty else { return false }
            heard[body] |= newsOfReaders
        }
        locks[lock].owner = body
        locks[lock].depth += 1
        heard[body] |= locks[lock].news
        return true
    }

    fileprivate mutating func takeToRead(for body: Int) -> Bool {
        let lock = locks[QueueInstruction.readWriteLock]
        guard lock.owner == nil else { return false }
        readers.insert(body)
        heard[body] |= lock.news
        return true
    }

    fileprivate mutating func release(_ lock: Int, by body: Int) {
        locks[lock].depth -= 1
        guard locks[lock].depth == 0 else { return }
        locks[lock].owner = nil
        locks[lock].news = heard[body]
    }

    /// What a body that waits for a queue has to wait for; `nil` if it has only now come to the
    /// concurrent one.
    fileprivate mutating func line(
        of body: Int, before queue: Int, isAlone: Bool
    ) -> [QueueModel.Work]? {
        let line = queues[queue].line
        guard !QueueInstruction.isSerial(queue) else {
            return line.filter { heard[body] & (1 << $0.body) != 0 }
        }
        guard isInLine.remove(body) != nil else {
            queues[queue].line.append(QueueModel.Work(body: body, isAlone: isAlone))
            isInLine.insert(body)
            return nil
        }
        return Array(line.prefix(upTo: line.lastIndex { $0.body == body }!))
    }

    fileprivate mutating func leaveLine(of queue: Int, _ body: Int) {
        guard !QueueInstruction.isSerial(queue) else { return }
        queues[queue].line.remove(at: queues[queue].line.lastIndex { $0.body == body }!)
    }

    /// Returns whether a body has entered a queue.
    fileprivate mutating func enter(
        _ number: Int, _ body: Int, isAlone: Bool, behind: [QueueModel.Work]
    ) -> Bool {
        let queue = queues[number]
        guard queue.owner == nil, !isAlone || queue.guests.isEmpty,
            behind.allSatisfy({ !isAlone && !$0.isAlone })
        else { return false }
        heard[body] |= queue.news
        if isAlone {
            heard[body] |= queue.newsOfGuests
            queues[number].owner = body
        } else {
            queues[number].guests.append(body)
        }
        return true
    }

    fileprivate mutating func leave(_ number: Int, _ body: Int) {
        if queues[number].owner == body {
            queues[number].owner = nil
            queues[number].news = heard[body]
        } else if let place = queues[number].guests.lastIndex(of: body) {
            queues[number].guests.remove(at: place)
            queues[number].newsOfGuests |= heard[body]
        }
    }
}
