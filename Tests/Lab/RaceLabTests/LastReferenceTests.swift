import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// What a thread did before it released an object happens before what its last owner does: runs its
/// `deinit`, or changes it because nobody else refers to it.
@Suite("The last owner comes after the others", .needsTheLab)
struct LastReferenceTests {
    private final class Box<Value>: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Reports its number when it ends.
    private final class Reporter: @unchecked Sendable {
        var number = 0
        let report: Box<Int>
        init(_ report: Box<Int>) { self.report = report }
        deinit { report.value = number }
    }

    private actor Counter {
        private var number = 0
        private let report: Box<Int>
        init(_ report: Box<Int>) { self.report = report }
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
        private var storage = Box(0)
        var number: Int { storage.value }

        mutating func add(_ amount: Int) {
            if !isKnownUniquelyReferenced(&storage) { storage = Box(storage.value) }
            storage.value += amount
        }
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isRace: Bool
        let describe: @Sendable (Scenario) -> Void

        init(
            _ name: String, isRace: Bool = false, _ describe: @escaping @Sendable (Scenario) -> Void
        ) {
            (testDescription, self.isRace, self.describe) = (name, isRace, describe)
        }
    }

    private static func reporters(_ report: Box<Int>) -> (Box<Reporter?>, Box<Reporter?>) {
        let reporter = Reporter(report)
        return (Box(reporter), Box(reporter))
    }

    static let examples = [
        Example("a `deinit` reads what another owner has written") { scenario in
            let report = Box(-1)
            let (first, second) = reporters(report)
            scenario.thread("A") {
                first.value!.number = 5
                first.value = nil
            }
            scenario.thread("B") { second.value = nil }
            scenario.check { try Scenario.require(report.value == 5, "\(report.value)") }
        },
        Example("the same through a collection and a closure") { scenario in
            let report = Box(-1)
            let (first, second) = reporters(report)
            let list = Box([first.value!])
            let closure = Box<(() -> Reporter)?>({ [it = second.value!] in it })
            (first.value, second.value) = (nil, nil)
            scenario.thread("A") {
                list.value[0].number = 5
                list.value = []
            }
            scenario.thread("B") { closure.value = nil }
            scenario.check { try Scenario.require(report.value == 5, "\(report.value)") }
        },
        Example("a token that was cancelled, or that cancels when it ends") { scenario in
            let count = Box(0)
            let token = Token { count.value += 1 }
            let (first, second) = (Box<Token?>(token), Box<Token?>(token))
            withExtendedLifetime(token) {}
            scenario.thread("A") {
                first.value!.cancel()
                first.value = nil
            }
            scenario.thread("B") { second.value = nil }
            scenario.check { try Scenario.require(count.value == 1, "\(count.value)") }
        },
        Example("an actor ends") { scenario in
            let report = Box(-1)
            let counter = Counter(report)
            let (first, second) = (Box<Counter?>(counter), Box<Counter?>(counter))
            scenario.task("A") {
                await first.value!.increment()
                first.value = nil
            }
            scenario.task("B") { second.value = nil }
            scenario.check { try Scenario.require(report.value <= 1, "\(report.value)") }
        },
        Example("copies of a value that copies on write") { scenario in
            let first = Box(CopyOnWrite())
            let second = Box(first.value)
            scenario.thread("A") { first.value.add(1) }
            scenario.thread("B") { second.value.add(2) }
            scenario.check {
                try Scenario.require(first.value.number == 1 && second.value.number == 2, "mixed")
            }
        },
        Example("an access after the release", isRace: true) { scenario in
            let report = Box(-1)
            let (first, second) = reporters(report)
            scenario.thread("A") {
                first.value = nil
                report.value += 1
            }
            scenario.thread("B") { second.value = nil }
        },
        Example("an access while somebody else refers to it", isRace: true) { scenario in
            let (first, second) = reporters(Box(-1))
            scenario.thread("A") { first.value!.number = 5 }
            scenario.thread("B") {
                second.value!.number = 6
                second.value = nil
            }
        },
    ]

    @Test("a race is found only if there is one", arguments: examples, [true, false])
    func races(example: Example, reduction: Bool) {
        var options = Exploration.Options()
        options.reduction = reduction
        let exploration = explore(options: options, example.describe)
        let races: Set<Exploration.Finding.Kind> = [.dataRace, .overlap]
        let isFound = exploration.findings.contains { races.contains($0.kind) }
        #expect(isFound == example.isRace, "\(exploration.text())")
        #expect(exploration.survives != example.isRace, "\(exploration.text())")
    }
}
