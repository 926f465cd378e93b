import CRaceLab
import Foundation
@_spi(Testing) import RaceLab
import StageTesting
import Synchronization
import Testing

/// Random programs, run by the lab and by a model of a few lines, in which everything is a step of
/// its own, the release of a lock included. Both have to come to the same outcomes.
@Suite("The lab agrees with a model", .needsTheLab)
struct ModelTests {
    @Test("on random programs with locks, attempts and atomics", arguments: 0..<40)
    func randomPrograms(block: Int) {
        #expect(disagreements(block).isEmpty, "\(disagreements(block).joined(separator: "\n"))")
    }

    @Test(
        "and would not if the lab had a fault",
        arguments: [RL_FAULT_NO_EARLY_ATTEMPTS, RL_FAULT_SKIP_LAST_ALTERNATIVE])
    func notices(fault: Int) {
        #expect((0..<4).contains { !disagreements($0, faults: UInt32(fault)).isEmpty })
    }

    /// On which programs the lab and the model do not agree.
    private func disagreements(_ block: Int, faults: UInt32 = 0) -> [String] {
        var result: [String] = []
        for seed in (block * 10)..<(block * 10 + 10) {
            let program = RandomProgram(seed: UInt64(seed))
            let expected = Model(program).outcomes()
            for reduction in [false, true] {
                var options = Options()
                options.reduction = reduction
                options.faults = faults
                options.maximumInterleavings = 5_000
                let report = explore(options: options, program.describe)
                guard report.extent == .all else { continue }
                var found = Set(report.outcomes.keys)
                if report.findings.contains(where: { $0.kind == .deadlock }) {
                    found.insert(Model.deadlock)
                }
                guard report.obstacle != nil || found != expected else { continue }
                result.append(
                    "program \(seed)\(reduction ? ", reduced" : ""): "
                        + "only the lab \(found.subtracting(expected)), "
                        + "only the model \(expected.subtracting(found)), "
                        + "\(report.summary)\n\(program)")
            }
        }
        return result
    }
}

/// What a thread of a random program does next.
enum Instruction {
    case store(variable: Int, value: Int)
    case load(variable: Int)
    case lock(Int)
    /// Goes on behind the matching `unlock` if the lock is taken.
    case attempt(Int, otherwise: Int)
    case unlock(Int)
}

/// Two or three threads that share two atomics and two locks.
struct RandomProgram: CustomStringConvertible {
    private(set) var threads: [[Instruction]] = []
    private var state: UInt64
    private let hasMutexes: Bool

    init(seed: UInt64) {
        hasMutexes = seed % 2 == 1
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        let count = below(3) == 0 ? 3 : 2
        threads = (0..<count).map { _ in
            var thread: [Instruction] = []
            while thread.count < (count == 2 ? 4 : 2) { add(to: &thread, depth: 0) }
            return thread
        }
    }

    /// A linear congruential generator (Knuth): the same programs on every machine.
    private mutating func below(_ bound: UInt64) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % bound)
    }

    private mutating func add(to thread: inout [Instruction], depth: Int) {
        switch below(depth < 2 ? 4 : 2) {
        case 0: thread.append(.store(variable: below(2), value: 1 + below(2)))
        case 1: thread.append(.load(variable: below(2)))
        case 2: addSection(to: &thread, depth: depth, isAttempt: false)
        default: addSection(to: &thread, depth: depth, isAttempt: true)
        }
    }

    private mutating func addSection(
        to thread: inout [Instruction], depth: Int, isAttempt: Bool
    ) {
        let (lock, start) = (below(2), thread.count)
        thread.append(.lock(lock))
        for _ in 0..<below(3) { add(to: &thread, depth: depth + 1) }
        thread.append(.unlock(lock))
        if isAttempt { thread[start] = .attempt(lock, otherwise: thread.count) }
    }

    var description: String {
        threads.map { "\($0)" }.joined(separator: "\n")
            .replacing("RaceLabTests.Instruction.", with: "")
    }

    /// The program, with locks of Foundation or, every other one, with `Mutex`, which releases
    /// without saying so.
    func describe(_ scenario: Scenario) {
        let variables = [Box(Atomic(0)), Box(Atomic(0))]
        let locks: [any Takeable] =
            hasMutexes ? [MutexLock(), MutexLock()] : [NSLock(), NSLock()]
        let seen = threads.map { _ in Seen() }
        for (index, instructions) in threads.enumerated() {
            scenario.thread("\(index)") {
                var at = 0
                while at < instructions.count {
                    let instruction = instructions[at]
                    at += 1
                    switch instruction {
                    case .store(let variable, let value):
                        variables[variable].value.store(value, ordering: .relaxed)
                    case .load(let variable):
                        seen[index].note("\(variables[variable].value.load(ordering: .relaxed))")
                    case .lock(let lock):
                        locks[lock].lock()
                    case .attempt(let lock, let otherwise):
                        let isTaken = locks[lock].try()
                        seen[index].note("\(isTaken)")
                        if !isTaken { at = otherwise }
                    case .unlock(let lock):
                        locks[lock].unlock()
                    }
                }
            }
        }
        scenario.outcome { seen.map(\.text).joined(separator: " | ") }
    }
}

private protocol Takeable {
    func lock()
    func `try`() -> Bool
    func unlock()
}

extension NSLock: Takeable {}

private final class MutexLock: Takeable {
    private let mutex = Mutex(())

    func lock() { mutex._unsafeLock() }
    func `try`() -> Bool { mutex._unsafeTryLock() }
    func unlock() { mutex._unsafeUnlock() }
}

/// Every order in which the instructions of a program can be carried out, one at a time.
struct Model {
    static let deadlock = "deadlock"

    private struct State: Hashable {
        var at: [Int]
        var variables = [0, 0]
        var owners: [Int?] = [nil, nil]
        var seen: [[String]]
    }

    private let program: RandomProgram

    init(_ program: RandomProgram) {
        self.program = program
    }

    func outcomes() -> Set<String> {
        let count = program.threads.count
        var open = [
            State(
                at: Array(repeating: 0, count: count), seen: Array(repeating: [], count: count))
        ]
        var known = Set(open)
        var outcomes: Set<String> = []
        while let state = open.popLast() {
            let next = (0..<count).compactMap { step(of: $0, in: state) }
            if next.isEmpty { outcomes.insert(outcome(of: state)) }
            open += next.filter { known.insert($0).inserted }
        }
        return outcomes
    }

    private func outcome(of state: State) -> String {
        let isOver = zip(state.at, program.threads).allSatisfy { $0 == $1.count }
        return isOver
            ? state.seen.map { $0.joined(separator: " ") }.joined(separator: " | ")
            : Model.deadlock
    }

    /// What comes of the next instruction of a thread; `nil` if it has come to its end or waits.
    private func step(of thread: Int, in before: State) -> State? {
        let instructions = program.threads[thread]
        guard before.at[thread] < instructions.count else { return nil }
        var state = before
        state.at[thread] += 1
        switch instructions[before.at[thread]] {
        case .store(let variable, let value):
            state.variables[variable] = value
        case .load(let variable):
            state.seen[thread].append("\(state.variables[variable])")
        case .lock(let lock):
            guard state.owners[lock] == nil else { return nil }
            state.owners[lock] = thread
        case .attempt(let lock, let otherwise):
            let isFree = state.owners[lock] == nil
            state.seen[thread].append("\(isFree)")
            if isFree { state.owners[lock] = thread } else { state.at[thread] = otherwise }
        case .unlock(let lock):
            state.owners[lock] = nil
        }
        return state
    }
}
