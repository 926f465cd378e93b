import Foundation
import RaceLab

/// Two threads that share optionals, references and a lock. Some orders of their operations crash.
/// The same seed gives the same program on every machine.
struct RandomCrashProgram: CustomStringConvertible {
    private enum Operation: CaseIterable {
        case empties, fills, unwraps, counts, reads, writes, traps, locks
        case drops, looks, unwrapsWeak, usesUnowned, expectsNone
        case endsSession, endsSessionInside, looksForSession
    }

    private final class Object: Sendable {
        nonisolated(unsafe) var number = 1
    }

    /// Its `deinit` takes a lock, and retains it before that.
    private final class Session: @unchecked Sendable {
        let lock: NSLock
        var number = 1
        init(_ lock: NSLock) { self.lock = lock }
        deinit { lock.withLock { number += 1 } }
    }

    private final class World: @unchecked Sendable {
        var optional: Int?
        var (count, number) = (0, 0)
        var strong: Object? = Object()
        weak var weakly: Object?
        unowned let unowned: Object
        let lock = NSLock()
        var sessions: (Session?, Session?)
        weak var session: Session?
        var (first, second) = (0, 0)

        init() {
            unowned = strong!
            weakly = strong
            let session = Session(lock)
            sessions = (session, session)
            self.session = session
        }

        func perform(_ operation: Operation, on thread: Int) {
            switch operation {
            case .empties: optional = nil
            case .fills: optional = 2
            case .unwraps: note(optional!, on: thread)
            case .counts: count += 1
            case .reads: note(count, on: thread)
            case .writes: number = thread + 1
            case .traps: precondition(number != 1, "number is 1")
            case .locks: lock.withLock { count += 1 }
            case .drops: strong = nil
            case .looks: note(weakly == nil ? 1 : 2, on: thread)
            case .unwrapsWeak: note(weakly!.number, on: thread)
            case .usesUnowned: note(unowned.number, on: thread)
            case .expectsNone: precondition(weakly == nil, "there is one")
            case .endsSession: sessions.1 = nil
            case .endsSessionInside: lock.withLock { sessions.0 = nil }
            case .looksForSession: note(session == nil ? 1 : 2, on: thread)
            }
        }

        private func note(_ value: Int, on thread: Int) {
            if thread == 0 { first = first * 3 + value } else { second = second * 3 + value }
        }
    }

    private let threads: [[Operation]]

    init(seed: UInt64) {
        var numbers = RandomNumbers(seed: seed)
        // Every third program is about the end of the session: few others have two such operations.
        let operations =
            seed % 3 == 0
            ? [.endsSession, .endsSessionInside, .looksForSession, .counts] : Operation.allCases
        threads = (0..<2).map { _ in
            (0..<2).map { _ in operations[numbers.below(UInt64(operations.count))] }
        }
    }

    var description: String { "\(threads)" }

    func describe(_ scenario: Scenario) {
        let world = World()
        for (thread, operations) in threads.enumerated() {
            scenario.thread("\(thread)") {
                for operation in operations { world.perform(operation, on: thread) }
            }
        }
        scenario.outcome { "\(world.first) \(world.second) \(world.count) \(world.number)" }
    }
}
