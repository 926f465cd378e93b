import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// What a thread did before it released an object happens before what its last owner does: runs its
/// `deinit`, or changes it because nobody else refers to it.
@Suite("The last owner comes after the others", .needsTheLab)
struct LastReferenceTests {
    /// Reports its number when it ends.
    private final class Reporter: @unchecked Sendable {
        var number = 0
        let report: Holder<Int>
        init(_ report: Holder<Int>) { self.report = report }
        deinit { report.value = number }
    }

    private actor Counter {
        private var number = 0
        private let report: Holder<Int>
        init(_ report: Holder<Int>) { self.report = report }
        func increment() { number += 1 }
        deinit { report.value = number }
    }

    /// A cancellation token whose `deinit` takes no lock.
    private final class Token: @unchecked Sendable {
        private let lock = NSLock()
        private var action: (() -> Void)?
        init(_ action: @escaping () -> Void) { self.action = action }
        deinit { action?() }

        func cancel() {
            lock.lock()
            let last = action
            action = nil
            lock.unlock()
            last?()
        }
    }

    /// A value that copies its storage if somebody else has it, too.
    private struct CopyOnWrite: @unchecked Sendable {
        private var storage = Holder(0)
        var number: Int { storage.value }

        mutating func add(_ amount: Int) {
            if !isKnownUniquelyReferenced(&storage) { storage = Holder(storage.value) }
            storage.value += amount
        }
    }

    private static func reporters(_ report: Holder<Int>) -> (Holder<Reporter?>, Holder<Reporter?>) {
        let reporter = Reporter(report)
        return (Holder(reporter), Holder(reporter))
    }

    static let programs = [
        KnownProgram("a `deinit` reads what another owner has written", everyOrder: true) {
            scenario in
            let report = Holder(-1)
            let (first, second) = reporters(report)
            scenario.thread("A") {
                first.value!.number = 5
                first.value = nil
            }
            scenario.thread("B") { second.value = nil }
            scenario.check { try Scenario.require(report.value == 5, "\(report.value)") }
        },
        KnownProgram("the same through a collection and a closure", everyOrder: true) { scenario in
            let report = Holder(-1)
            let (first, second) = reporters(report)
            let list = Holder([first.value!])
            let closure = Holder<(() -> Reporter)?>({ [it = second.value!] in it })
            (first.value, second.value) = (nil, nil)
            scenario.thread("A") {
                list.value[0].number = 5
                list.value = []
            }
            scenario.thread("B") { closure.value = nil }
            scenario.check { try Scenario.require(report.value == 5, "\(report.value)") }
        },
        KnownProgram("a token that was cancelled, or that cancels when it ends", everyOrder: true) {
            scenario in
            let count = Holder(0)
            let token = Token { count.value += 1 }
            let (first, second) = (Holder<Token?>(token), Holder<Token?>(token))
            withExtendedLifetime(token) {}
            scenario.thread("A") {
                first.value!.cancel()
                first.value = nil
            }
            scenario.thread("B") { second.value = nil }
            scenario.check { try Scenario.require(count.value == 1, "\(count.value)") }
        },
        KnownProgram("an actor ends", everyOrder: true) { scenario in
            let report = Holder(-1)
            let counter = Counter(report)
            let (first, second) = (Holder<Counter?>(counter), Holder<Counter?>(counter))
            scenario.task("A") {
                await first.value!.increment()
                first.value = nil
            }
            scenario.task("B") { second.value = nil }
            scenario.check { try Scenario.require(report.value <= 1, "\(report.value)") }
        },
        KnownProgram("copies of a value that copies on write", everyOrder: true) { scenario in
            let first = Holder(CopyOnWrite())
            let second = Holder(first.value)
            scenario.thread("A") { first.value.add(1) }
            scenario.thread("B") { second.value.add(2) }
            scenario.check {
                try Scenario.require(first.value.number == 1 && second.value.number == 2, "mixed")
            }
        },
        KnownProgram("an access after the release", .overlap, everyOrder: true) {
            scenario in
            let report = Holder(-1)
            let (first, second) = reporters(report)
            scenario.thread("A") {
                first.value = nil
                report.value += 1
            }
            scenario.thread("B") { second.value = nil }
        },
        KnownProgram("an access while somebody else refers to it", .overlap, everyOrder: true) {
            scenario in
            let (first, second) = reporters(Holder(-1))
            scenario.thread("A") { first.value!.number = 5 }
            scenario.thread("B") {
                second.value!.number = 6
                second.value = nil
            }
        },
        KnownProgram("a completion handler is the last that refers to an object") { scenario in
            let report = Holder(-1)
            scenario.thread("A") { send(Reporter(report), 5) }
            scenario.check { try Scenario.require([-1, 5].contains(report.value), "mixed") }
        },
        KnownProgram("an access after the completion handler was dropped", .overlap) { scenario in
            let report = Holder(-1)
            scenario.thread("A") {
                let reporter = Reporter(report)
                send(reporter, 5)
                reporter.number = 6
            }
        },
    ]

    /// The handler has a context of its own, which the work on the queue refers to.
    private static func send(_ reporter: Reporter, _ number: Int) {
        let handler: @Sendable () -> Void = { reporter.number = number }
        DispatchQueue(label: "queue").async { handler() }
    }

    @Test("a race is found only if there is one", arguments: programs)
    func races(_ program: KnownProgram) { program.check() }

    @Test("the last release of an object on the stack is no step")
    func onTheStack() {
        // What optimized code calls for an object that nothing else refers to.
        typealias Begin =
            @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
        let begin = unsafeBitCast(dlsym(nil, "swift_initStackObject"), to: Begin.self)
        let exploration = explore { scenario in
            let step = Holder(0)
            scenario.thread("A") {
                step.value = 1
                withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { memory in
                    let begun = begin(
                        unsafeBitCast(Holder<Int>.self, to: UnsafeRawPointer.self),
                        memory.baseAddress!)
                    Unmanaged<Holder<Int>>.fromOpaque(begun).release()
                }
            }
        }
        #expect(exploration.survives)
        #expect(exploration.passingSchedule?.text(threads: ["A"]) == "A")
    }
}
