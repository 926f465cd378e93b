import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Loops that wait for a change, whatever they read or allocate.
@Suite("Spinning", .needsTheLab)
struct SpinningTests {
    /// One thread waits in a loop, another one makes the change.
    struct Wait: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var takesLock = false
        /// Returns the functions of the two threads.
        let make: @Sendable () -> (wait: () -> Void, change: () -> Void)

        /// `waiting` threads wait in the loop; `changes` is whether the change is made.
        func exploration(waiting: Int = 1, changes: Bool = true, reduction: Bool = true)
            -> Exploration
        {
            var options = Exploration.Options()
            options.failingKinds = [.deadlock, .livelock, .failedCheck]
            options.reduction = reduction
            return explore(options: options) { scenario in
                let (wait, change) = make()
                let counter = Counter()
                for number in 0..<waiting { scenario.thread("waits \(number)") { wait() } }
                scenario.thread("changes") {
                    counter.value = 1
                    if changes { change() }
                    counter.value = 2
                }
            }
        }
    }

    // MARK: Looking at something unseen

    private static func wait(until isOver: @escaping () -> Bool) -> () -> Void {
        let seen = Counter()
        return { while !isOver(), seen.value == 0 {} }
    }

    static let unseen: [Wait] = [
        Wait(testDescription: "DispatchWorkItem.isCancelled") {
            let item = DispatchWorkItem {}
            return (wait { item.isCancelled }, { item.cancel() })
        },
        Wait(testDescription: "Thread.isCancelled") {
            let thread = Thread {}
            return (wait { thread.isCancelled }, { thread.cancel() })
        },
        Wait(testDescription: "Progress.isCancelled") {
            let progress = Progress(totalUnitCount: 1)
            return (wait { progress.isCancelled }, { progress.cancel() })
        },
        Wait(testDescription: "an unsafe pointer") {
            let cell = Cell()
            return (wait { cell.pointer.pointee == 1 }, { cell.pointer.pointee = 1 })
        },
        Wait(testDescription: "a weak reference") {
            let pair = Pair()
            return (wait { pair.weakly == nil }, { pair.strongly = nil })
        },
        Wait(testDescription: "the state of an iterator") {
            let counter = Counter()
            return (
                {
                    var rest = AnySequence(0..<5).makeIterator()
                    while rest.next() != nil, counter.value < 2 {}
                }, {}
            )
        },
    ]

    private final class Cell {
        let pointer = UnsafeMutablePointer<Int>.allocate(capacity: 1)

        init() { pointer.initialize(to: 0) }
        deinit { pointer.deallocate() }
    }

    private final class Pair {
        var strongly: Counter? = Counter()
        weak var weakly: Counter?

        init() { weakly = strongly }
    }

    @Test(
        "a loop that reads something unseen ends", arguments: unseen, [false, true])
    func looksAtUnseen(_ wait: Wait, reduction: Bool) {
        let exploration = wait.exploration(reduction: reduction)
        #expect(exploration.survives, "\(exploration.text())")
        #expect(exploration.coverage == .all)
    }

    // MARK: Allocating

    static let allocating: [Wait] = [
        Wait(testDescription: "a closure for a queue", takesLock: true) {
            let (queue, counter) = (DispatchQueue(label: "polled"), Counter())
            return (
                { while queue.sync(execute: { counter.value }) == 0 {} },
                { queue.sync { counter.value = 1 } }
            )
        },
        Wait(testDescription: "a closure for an array") {
            let counters = [Counter(), Counter()]
            return (
                { while !counters.contains(where: { $0.value == 1 }) {} },
                { counters[1].value = 1 }
            )
        },
        Wait(testDescription: "a string") {
            let counter = Counter()
            return (
                { while "the counter is \(counter.value)" != text(1) {} }, { counter.value = 1 }
            )
        },
        Wait(testDescription: "an array") {
            let counter = Counter()
            return (
                { while [counter.value, 2].map({ $0 + 1 }).reduce(0, +) < 5 {} },
                { counter.value = 1 }
            )
        },
        Wait(testDescription: "a dictionary under a lock", takesLock: true) {
            let (lock, counter) = (NSLock(), Counter())
            return (
                { while lock.withLock({ ["value": counter.value] })["value"] == 0 {} },
                { lock.withLock { counter.value = 1 } }
            )
        },
        Wait(testDescription: "an object") {
            let counter = Counter()
            return ({ while Holder(counter.value).number == 0 {} }, { counter.value = 1 })
        },
    ]

    private static func text(_ number: Int) -> String { "the counter is \(number)" }

    // MARK: Coming to the same code twice in each round

    static let asking: [Wait] = [
        Wait(testDescription: "two values through one accessor") {
            let (first, second) = (AtomicValue(), AtomicValue())
            return ({ while first.value == second.value {} }, { second.value = 1 })
        },
        Wait(testDescription: "two values, and a yield") {
            let (first, second) = (AtomicValue(), AtomicValue())
            return ({ while first.value == second.value { sched_yield() } }, { first.value = 1 })
        },
        Wait(testDescription: "one value, twice") {
            let shown = AtomicValue()
            return ({ while shown.value == 0, shown.value == 0 {} }, { shown.value = 1 })
        },
        Wait(testDescription: "two values in mutexes", takesLock: true) {
            let (first, second) = (LockedValue(), LockedValue())
            return ({ while first.value == second.value {} }, { second.value = 1 })
        },
        Wait(testDescription: "one value in a mutex, twice", takesLock: true) {
            let shown = LockedValue()
            return ({ while shown.value == 0, shown.value == 0 {} }, { shown.value = 1 })
        },
        Wait(testDescription: "a value in a mutex, between two sleeps", takesLock: true) {
            let shown = LockedValue()
            return (
                {
                    while shown.value == 0 {
                        usleep(10)
                        sleep(1)
                    }
                }, { shown.value = 1 }
            )
        },
        Wait(testDescription: "a value in a mutex, between sleeps of Foundation", takesLock: true) {
            let shown = LockedValue()
            return (
                { while shown.value == 0 { Thread.sleep(forTimeInterval: 0.5) } },
                { shown.value = 1 }
            )
        },
    ]

    // MARK: Rounds in which the same is looked at several times

    static let adaptive: [Wait] = [
        Wait(testDescription: "two looks, and then a yield") {
            let shown = AtomicValue()
            return (wait({ sched_yield() }, after: 2) { shown.value != 0 }, { shown.value = 1 })
        },
        Wait(testDescription: "seven looks, and then nothing") {
            let shown = AtomicValue()
            return (wait({}, after: 7) { shown.value != 0 }, { shown.value = 1 })
        },
        Wait(testDescription: "looks that are counted modulo three") {
            let shown = AtomicValue()
            return (
                {
                    var looks = 0
                    while shown.value == 0 { looks = (looks + 1) % 3 }
                }, { shown.value = 1 }
            )
        },
        Wait(testDescription: "two values in turn") {
            let values = [AtomicValue(), AtomicValue()]
            return (
                {
                    var index = 0
                    while values[index].value == 0 { index = 1 - index }
                }, { values[1].value = 1 }
            )
        },
        Wait(testDescription: "looks at two places of the code") {
            let (first, second) = (AtomicValue(), AtomicValue())
            return (
                {
                    while true {
                        for _ in 0..<2 where first.value != 0 { return }
                        for _ in 0..<2 where second.value != 0 { return }
                    }
                }, { second.value = 1 }
            )
        },
        Wait(testDescription: "three looks under a lock, and then a sleep", takesLock: true) {
            let shown = LockedValue()
            return (wait({ usleep(10) }, after: 3) { shown.value != 0 }, { shown.value = 1 })
        },
    ]

    @Test("what changes meanwhile is seen, wherever the loop is", arguments: [true, false])
    func changesMeanwhile(isLeftAgain: Bool) {
        let options = Exploration.Options.with { $0.failingKinds = [.deadlock] }
        let exploration = explore(options: options) { scenario in
            let (first, second) = (AtomicValue(), AtomicValue())
            scenario.thread("waits") {
                while true {
                    for _ in 0..<3 where first.value != 0 { return }
                    if second.value == 1 { return }
                }
            }
            scenario.thread("changes") {
                second.value = 2
                first.value = 0
                second.value = 1
                first.value = 0
                if isLeftAgain { second.value = 3 }
            }
        }
        #expect(exploration.coverage == .all, "\(exploration.text())")
        // The last change comes before the thread looks at it, or after.
        let failing = isLeftAgain ? exploration.explored / 2 : 0
        #expect(exploration.failing == failing, "\(exploration.text())")
    }

    @Test("a loop that looks several times between clocks sees its deadline", arguments: 1...9)
    func looksBeforeClock(looks: Int) {
        let survives = [
            explore { scenario in
                let (shown, end) = (AtomicValue(), DispatchTime.now() + 1)
                scenario.thread("waits") {
                    while DispatchTime.now() < end {
                        for _ in 0..<looks where shown.value != 0 { return }
                    }
                }
                scenario.thread("shows nothing") { shown.value = 0 }
            },
            explore { scenario in
                let (first, second, end) = (AtomicValue(), AtomicValue(), DispatchTime.now() + 1)
                scenario.thread("waits") {
                    while true {
                        if DispatchTime.now() >= end { return }
                        for _ in 0..<looks where second.value != 0 { return }
                        if first.value != 0 { return }
                    }
                }
                scenario.thread("shows nothing") { first.value = 0 }
            },
        ].map(\.survives)
        #expect(survives == [true, true])
    }

    private static func wait(
        _ rest: @escaping () -> Void, after looks: Int, until isOver: @escaping () -> Bool
    ) -> () -> Void {
        {
            while true {
                for _ in 0..<looks where isOver() { return }
                rest()
            }
        }
    }

    private final class AtomicValue: Sendable {
        private let atomic = Atomic(0)
        var value: Int {
            get { atomic.load(ordering: .sequentiallyConsistent) }
            set { atomic.store(newValue, ordering: .sequentiallyConsistent) }
        }
    }

    private final class LockedValue: Sendable {
        private let mutex = Mutex(0)
        var value: Int {
            get { mutex.withLock { $0 } }
            set { mutex.withLock { $0 = newValue } }
        }
    }

    // The engine keeps copies of what a thread can reach, up to a limit. Whether there is room for
    // them must make no difference.

    @Test(
        "a loop is recognized in its second iteration, whatever its thread can reach",
        arguments: [0, 20, 100], [0, 400])
    func reachesMuch(blocks: Int, reads: Int) throws {
        let exploration = explore(options: .with { $0.failingKinds = [.deadlock] }) { scenario in
            let (flag, others) = (Flag(), (0..<reads).map { _ in Flag() })
            scenario.thread("waits") {
                let before = (0..<blocks).map { [UInt8](repeating: 0, count: 500 + $0) }
                var seen = 0
                while seen < reads { seen += others[seen].isUp.load(ordering: .relaxed) ? 0 : 1 }
                while !flag.isUp.load(ordering: .relaxed) {}
                _ = before.count
            }
        }
        let finding = try #require(exploration.findings.first, "\(exploration.text())")
        #expect(finding.schedule.choices.count == reads + 1)
    }

    private final class Holder {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    /// Each with the number of threads that wait.
    static let waits =
        (allocating + asking).flatMap { [($0, 1), ($0, 2)] } + adaptive.map { ($0, 1) }

    @Test("such a loop ends when the change is made", arguments: waits)
    func waitsForChange(_ wait: Wait, waiting: Int) {
        let exploration = wait.exploration(waiting: waiting)
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("such a loop never ends without the change", arguments: waits)
    func neverEnds(_ wait: Wait, waiting: Int) {
        let exploration = wait.exploration(waiting: waiting, changes: false)
        let kind: Exploration.Finding.Kind = wait.takesLock ? .livelock : .deadlock
        #expect(exploration.findings.map(\.kind) == [kind], "\(exploration.text())")
        #expect(exploration.failing == exploration.explored && exploration.failing > 0)
    }
}
