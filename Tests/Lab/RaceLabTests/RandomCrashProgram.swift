import Foundation
import Models
import RaceLab
import Synchronization

/// Two threads that share optionals, references, a lock and an atomic variable. Some orders of their
/// operations crash. The same seed gives the same program on every machine.
struct RandomCrashProgram: CustomStringConvertible {
    private enum Operation: CaseIterable {
        case empties, fills, unwraps, counts, reads, writes, traps, locks
        case drops, looks, unwrapsWeak, usesUnowned, expectsNone
        case stores, loads, expectsZero, claims
    }

    private final class Object: Sendable {
        nonisolated(unsafe) var number = 1
    }

    private final class World: @unchecked Sendable {
        var optional: Int?
        var (count, number) = (0, 0)
        var strong: Object? = Object()
        weak var weakly: Object?
        unowned let unowned: Object
        let lock = NSLock()
        let atomic = Atomic(0)
        var (first, second) = (0, 0)

        init() {
            unowned = strong!
            weakly = strong
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
            case .stores: atomic.store(thread + 1, ordering: .relaxed)
            case .loads: note(atomic.load(ordering: .relaxed), on: thread)
            case .expectsZero: precondition(atomic.load(ordering: .acquiring) == 0, "stored")
            case .claims:
                let claim = atomic.compareExchange(
                    expected: 0, desired: 3, ordering: .acquiringAndReleasing)
                precondition(claim.exchanged, "claimed")
            }
        }

        private func note(_ value: Int, on thread: Int) {
            if thread == 0 { first = first * 3 + value } else { second = second * 3 + value }
        }
    }

    /// Programs that crash unless two steps come in a certain order.
    static let known: [RandomCrashProgram] = [
        [[.unwraps], [.fills]], [[.empties, .unwraps], [.fills]], [[.unwrapsWeak], [.drops]],
        [[.drops], [.unwrapsWeak]], [[.drops], [.usesUnowned]],
        [[.expectsNone, .unwraps], [.drops, .unwrapsWeak]],
    ].map(RandomCrashProgram.init(threads:))

    private let threads: [[Operation]]

    private init(threads: [[Operation]]) { self.threads = threads }

    init(seed: UInt64) {
        var numbers = RandomNumbers(seed: seed)
        threads = (0..<2).map { _ in
            (0..<2).map { _ in
                Operation.allCases[numbers.below(UInt64(Operation.allCases.count))]
            }
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
