/// Every order in which the instructions of a program can be carried out, one at a time.
struct Model {
    /// What there is at one moment.
    private struct State: Hashable {
        var at: [Int]
        var seen: [[String]]
        var variables = [0, 0]
        var plain = 0
        var owners: [Int?] = [nil, nil, nil, nil]
        var readers: [Int] = []
        var count = 0
        /// Who sleeps on the condition, who has slept longest first.
        var asleep: [Int] = []
        /// Who has been woken and needs the lock of the condition back.
        var woken: Set<Int> = []
    }

    /// What can come of a program, "deadlock" included.
    private(set) var outcomes: Set<String> = []
    /// Whether two threads can ever be about to access the plain variable at the same time, one of
    /// them to write: that is a data race.
    private(set) var hasRace = false
    private let program: RandomProgram
    private let wakesForNoReason: Bool

    /// - Parameter wakesForNoReason: whether who sleeps on a condition may be woken by nobody.
    init(_ program: RandomProgram, wakesForNoReason: Bool = false) {
        self.program = program
        self.wakesForNoReason = wakesForNoReason
        let count = program.threads.count
        var open = [
            State(
                at: Array(repeating: 0, count: count), seen: Array(repeating: [], count: count))
        ]
        var known = Set(open)
        while let state = open.popLast() {
            let next = (0..<count).compactMap { step(of: $0, in: state) }
            if next.isEmpty { outcomes.insert(outcome(of: state)) }
            if isRace(state) { hasRace = true }
            open += next.filter { known.insert($0).inserted }
        }
    }

    private func outcome(of state: State) -> String {
        let isOver = zip(state.at, program.threads).allSatisfy { $0 == $1.count }
        return isOver
            ? state.seen.map { $0.joined(separator: " ") }.joined(separator: " | ")
            : Prediction.deadlock
    }

    private func isRace(_ state: State) -> Bool {
        var (readers, writers) = (0, 0)
        for (thread, at) in state.at.enumerated() where at < program.threads[thread].count {
            switch program.threads[thread][at] {
            case .read: readers += 1
            case .write: writers += 1
            default: break
            }
        }
        return writers > 1 || (writers == 1 && readers > 0)
    }

    /// What comes of the next instruction of a thread; `nil` if it has come to its end or waits.
    private func step(of thread: Int, in before: State) -> State? {
        let instructions = program.threads[thread]
        guard before.at[thread] < instructions.count else { return nil }
        if before.asleep.contains(thread) { return wakesForNoReason ? woken(thread, before) : nil }
        var state = before
        state.at[thread] += 1
        switch instructions[before.at[thread]] {
        case .store(let variable, let value): state.variables[variable] = value
        case .load(let variable): state.seen[thread].append("\(state.variables[variable])")
        case .write(let value): state.plain = value
        case .read: state.seen[thread].append("\(state.plain)")
        case .lock(let lock):
            guard isFree(lock, in: state) else { return nil }
            state.owners[lock] = thread
        case .attempt(let lock, let otherwise):
            let isTaken = isFree(lock, in: state)
            state.seen[thread].append("\(isTaken)")
            if isTaken { state.owners[lock] = thread } else { state.at[thread] = otherwise }
        case .unlock(let lock): state.owners[lock] = nil
        case .lockToRead:
            guard state.owners[Instruction.readWrite] == nil else { return nil }
            state.readers.append(thread)
        case .attemptToRead(let otherwise):
            let isTaken = state.owners[Instruction.readWrite] == nil
            state.seen[thread].append("\(isTaken)")
            if isTaken { state.readers.append(thread) } else { state.at[thread] = otherwise }
        case .unlockToRead: state.readers.removeAll { $0 == thread }
        case .signal: state.count += 1
        case .acquire:
            guard state.count > 0 else { return nil }
            state.count -= 1
        case .attemptToAcquire:
            state.seen[thread].append(state.count > 0 ? "got it" : "none")
            state.count = max(0, state.count - 1)
        case .wait: return waiting(thread, in: before)
        case .wake(let everybody):
            let number = everybody ? state.asleep.count : min(1, state.asleep.count)
            state.woken.formUnion(state.asleep.prefix(number))
            state.asleep.removeFirst(number)
        }
        return state
    }

    private func isFree(_ lock: Int, in state: State) -> Bool {
        state.owners[lock] == nil && (lock != Instruction.readWrite || state.readers.isEmpty)
    }

    private func woken(_ thread: Int, _ before: State) -> State {
        var state = before
        state.asleep.removeAll { $0 == thread }
        state.woken.insert(thread)
        return state
    }

    /// To wait is two steps: to release the lock and fall asleep, and to take the lock back.
    private func waiting(_ thread: Int, in before: State) -> State? {
        var state = before
        guard state.woken.contains(thread) else {
            state.owners[Instruction.condition] = nil
            state.asleep.append(thread)
            return state
        }
        guard state.owners[Instruction.condition] == nil else { return nil }
        state.owners[Instruction.condition] = thread
        state.woken.remove(thread)
        state.at[thread] += 1
        return state
    }
}
