/// Explores every order in which the instructions of a program can execute, one at a time.
package struct Model {
    /// The state between two instructions.
    private struct State: Hashable {
        var at: [Int]
        var seen: [[String]]
        var variables = [0, 0]
        var plain = 0
        var owners: [Int?] = [nil, nil, nil, nil]
        var readers: [Int] = []
        var count = 0
        /// The threads that wait on the condition, in the order of their arrival.
        var asleep: [Int] = []
        /// The threads that have been woken and must reacquire the lock of the condition.
        var woken: Set<Int> = []
        /// The accesses to the plain variable so far.
        var reads: Accesses = 0
        var writes: Accesses = 0
        /// The accesses that happen before the next instruction of each thread.
        var known: [Accesses]
        /// For each thread, the accesses that an acquire fence would order before what follows, and
        /// those that its last release fence has released.
        var acquirable: [Accesses]
        var fenced: [Accesses]
        /// The accesses that happen before an operation that acquires what was released here.
        var ofVariables: [Accesses] = [0, 0]
        var ofLocks: [Accesses] = [0, 0, 0, 0]
        var ofReaders: Accesses = 0
        var ofSignals: Accesses = 0
        var hasRace = false
    }

    /// Accesses to the plain variable: a bit for each instruction of the program.
    private typealias Accesses = UInt64

    /// The possible outcomes of a program, including "deadlock".
    package private(set) var outcomes: Set<String> = []
    /// Whether some execution has a data race: two accesses to the plain variable, at least one of
    /// them a write, without happens-before between them.
    package private(set) var hasRace = false
    private let program: RandomProgram
    private let wakesForNoReason: Bool

    /// - Parameter wakesForNoReason: whether a thread may wake up spuriously.
    package init(_ program: RandomProgram, wakesForNoReason: Bool = false) {
        self.program = program
        self.wakesForNoReason = wakesForNoReason
        let count = program.threads.count
        var open = [
            State(
                at: Array(repeating: 0, count: count), seen: Array(repeating: [], count: count),
                known: Array(repeating: 0, count: count),
                acquirable: Array(repeating: 0, count: count),
                fenced: Array(repeating: 0, count: count))
        ]
        var known = Set(open)
        while let state = open.popLast() {
            let next = (0..<count).compactMap { step(of: $0, in: state) }
            if next.isEmpty { outcomes.insert(outcome(of: state)) }
            if state.hasRace { hasRace = true }
            open += next.filter { known.insert($0).inserted }
        }
    }

    private func outcome(of state: State) -> String {
        let isOver = zip(state.at, program.threads).allSatisfy { $0 == $1.count }
        return isOver
            ? state.seen.map { $0.joined(separator: " ") }.joined(separator: " | ")
            : Prediction.deadlock
    }

    /// The state after the next instruction of a thread; `nil` if the thread has ended or waits.
    private func step(of thread: Int, in before: State) -> State? {
        let instructions = program.threads[thread]
        guard before.at[thread] < instructions.count else { return nil }
        if before.asleep.contains(thread) { return wakesForNoReason ? woken(thread, before) : nil }
        var state = before
        state.at[thread] += 1
        switch instructions[before.at[thread]] {
        case .store(let variable, let value, let ordering):
            state.variables[variable] = value
            state.ofVariables[variable] = released(by: thread, ordering, in: state)
        case .load(let variable, let ordering):
            state.seen[thread].append("\(load(variable, thread, ordering, &state))")
        case .add(let variable, let value, let ordering):
            let before = load(variable, thread, ordering, &state)
            state.seen[thread].append("\(before)")
            state.variables[variable] = before + value
            state.ofVariables[variable] |= released(by: thread, ordering, in: state)
        case .exchange(let variable, let value, let ordering):
            state.seen[thread].append("\(load(variable, thread, ordering, &state))")
            state.variables[variable] = value
            state.ofVariables[variable] |= released(by: thread, ordering, in: state)
        case .guardSet(let variable, let ordering, let otherwise):
            if load(variable, thread, ordering, &state) == 0 {
                state.at[thread] = otherwise
            } else {
                state.seen[thread].append("set")
            }
        case .claim(let variable, let ordering, let failing, let otherwise):
            if state.variables[variable] != 0 {
                _ = load(variable, thread, failing, &state)
                state.at[thread] = otherwise
            } else {
                _ = load(variable, thread, ordering, &state)
                state.seen[thread].append("claimed")
                state.variables[variable] = 1
                state.ofVariables[variable] |= released(by: thread, ordering, in: state)
            }
        case .fence(let ordering):
            if ordering.acquires { state.known[thread] |= state.acquirable[thread] }
            if ordering.releases { state.fenced[thread] = state.known[thread] }
        case .write(let value):
            state.plain = value
            let others = (state.reads | state.writes) & ~state.known[thread]
            if others != 0 { state.hasRace = true }
            let access = bit(of: before.at[thread], thread)
            state.writes |= access
            state.known[thread] |= access
        case .read:
            state.seen[thread].append("\(state.plain)")
            if state.writes & ~state.known[thread] != 0 { state.hasRace = true }
            let access = bit(of: before.at[thread], thread)
            state.reads |= access
            state.known[thread] |= access
        case .lock(let lock):
            guard isFree(lock, in: state) else { return nil }
            take(lock, thread, &state)
        case .attempt(let lock, let otherwise):
            let isTaken = isFree(lock, in: state)
            state.seen[thread].append("\(isTaken)")
            if isTaken { take(lock, thread, &state) } else { state.at[thread] = otherwise }
        case .unlock(let lock): release(lock, thread, &state)
        case .lockToRead:
            guard state.owners[Instruction.readWrite] == nil else { return nil }
            share(thread, &state)
        case .attemptToRead(let otherwise):
            let isTaken = state.owners[Instruction.readWrite] == nil
            state.seen[thread].append("\(isTaken)")
            if isTaken { share(thread, &state) } else { state.at[thread] = otherwise }
        case .unlockToRead:
            state.readers.removeAll { $0 == thread }
            state.ofReaders |= state.known[thread]
        case .signal:
            state.count += 1
            state.ofSignals |= state.known[thread]
        case .acquire:
            guard state.count > 0 else { return nil }
            state.count -= 1
            state.known[thread] |= state.ofSignals
        case .attemptToAcquire:
            state.seen[thread].append(state.count > 0 ? "got it" : "none")
            if state.count > 0 { state.known[thread] |= state.ofSignals }
            state.count = max(0, state.count - 1)
        case .wait: return waiting(thread, in: before)
        case .wake(let everybody):
            let number = everybody ? state.asleep.count : min(1, state.asleep.count)
            state.woken.formUnion(state.asleep.prefix(number))
            state.asleep.removeFirst(number)
        }
        return state
    }

    private func bit(of index: Int, _ thread: Int) -> Accesses {
        1 << (program.threads.prefix(thread).reduce(0) { $0 + $1.count } + index)
    }

    /// Reads an atomic variable, and acquires what was released there.
    private func load(
        _ variable: Int, _ thread: Int, _ ordering: MemoryOrdering, _ state: inout State
    ) -> Int {
        state.acquirable[thread] |= state.ofVariables[variable]
        if ordering.acquires { state.known[thread] |= state.ofVariables[variable] }
        return state.variables[variable]
    }

    private func released(
        by thread: Int, _ ordering: MemoryOrdering, in state: State
    ) -> Accesses {
        ordering.releases ? state.known[thread] : state.fenced[thread]
    }

    private func take(_ lock: Int, _ thread: Int, _ state: inout State) {
        state.owners[lock] = thread
        state.known[thread] |= state.ofLocks[lock]
        if lock == Instruction.readWrite { state.known[thread] |= state.ofReaders }
    }

    private func release(_ lock: Int, _ thread: Int, _ state: inout State) {
        state.owners[lock] = nil
        state.ofLocks[lock] |= state.known[thread]
    }

    private func share(_ thread: Int, _ state: inout State) {
        state.readers.append(thread)
        state.known[thread] |= state.ofLocks[Instruction.readWrite]
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

    /// Waiting takes two steps: releasing the lock to sleep, and reacquiring it.
    private func waiting(_ thread: Int, in before: State) -> State? {
        var state = before
        guard state.woken.contains(thread) else {
            release(Instruction.condition, thread, &state)
            state.asleep.append(thread)
            return state
        }
        guard state.owners[Instruction.condition] == nil else { return nil }
        take(Instruction.condition, thread, &state)
        state.woken.remove(thread)
        state.at[thread] += 1
        return state
    }
}
