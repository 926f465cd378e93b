import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// A report never claims more than was explored.
@Suite("Reports respect their bounds", .needsTheLab)
struct BoundsTests {
    /// Two threads of two steps each: six interleavings, of which two have no preemption, two
    /// have one, and two have two.
    private static let twoByTwo = Classic("two by two", .survives) { scenario in
        let (left, right) = (Counter(), Counter())
        scenario.thread("left") { for _ in 0..<2 { left.value = 1 } }
        scenario.thread("right") { for _ in 0..<2 { right.value = 1 } }
    }

    @Test(
        "a maximum of preemptions",
        arguments: [
            (0, 2, Exploration.Coverage.atMost(preemptions: 0)), (1, 4, .atMost(preemptions: 1)),
            (2, 6, .all),
            (.max, 6, .all), (Int(Int32.max) + 1, 6, .all),
        ])
    func switches(bound: Int, explored: Int, coverage: Exploration.Coverage) {
        let exploration = Self.twoByTwo.exploration { $0.preemptionBound = bound }
        #expect(exploration.explored == explored)
        #expect(exploration.coverage == coverage)
        let verdict = coverage == .all ? "survives" : "no failure in"
        #expect(exploration.summary == "\(verdict) \(coverage) (\(explored))")
    }

    @Test(
        "a maximum of interleavings",
        arguments: [(1, Exploration.Coverage.first(1)), (5, .first(5)), (6, .all), (7, .all)])
    func interleavings(bound: Int, coverage: Exploration.Coverage) {
        let exploration = Self.twoByTwo.exploration { $0.maximumInterleavings = bound }
        #expect(exploration.explored == min(bound, 6))
        #expect(exploration.coverage == coverage)
        #expect(exploration.text().contains("explored: \(coverage)"))
        #expect(exploration.survives == (coverage == .all) && exploration.failing == 0)
        let verdict = coverage == .all ? "survives" : "no failure in the first "
        #expect(exploration.summary.hasPrefix(verdict), "\(exploration.summary)")
        #expect(exploration.text().hasPrefix(verdict), "\(exploration.text())")
        let name = coverage == .all ? "survives" : "noFailure"
        #expect(exploration.json.contains("\"verdict\" : \"\(name)\""))
    }

    @Test("a single interleaving is reported in the singular")
    func words() {
        let fails: (Scenario) -> Void = { scenario in
            let counter = Counter()
            scenario.thread("only") { counter.value = 1 }
            scenario.check { throw Scenario.CheckFailure("never right") }
        }
        #expect(
            explore(fails).summary
                == "fails in the one interleaving that was explored: never right")
        #expect(Exploration.Coverage.first(1).description == "the first interleaving only")
        #expect(
            Exploration.Coverage.atMost(preemptions: 1).description
                == "all interleavings with at most one preemption")
    }

    @Test(
        "of two bounds, the report names the one that was reached",
        arguments: [(3, Exploration.Coverage.first(3)), (4, .atMost(preemptions: 1))])
    func both(interleavings: Int, coverage: Exploration.Coverage) {
        let exploration = Self.twoByTwo.exploration { options in
            options.preemptionBound = 1
            options.maximumInterleavings = interleavings
        }
        #expect(exploration.explored == interleavings)
        #expect(exploration.coverage == coverage)
    }

    @Test("a bound on context switches explores the same with and without reduction")
    func boundWithReduction() {
        let exploration = Self.twoByTwo.exploration { options in
            options.preemptionBound = 1
            options.reduction = true
        }
        #expect(exploration.explored == 4 && exploration.redundant == 0)
        #expect(exploration.coverage == .atMost(preemptions: 1))
    }

    @Test("attempts that change something are given up after a maximum of steps, and reported")
    func endlessRetries() {
        let exploration = explore { scenario in
            let (word, attempts) = (Box(Atomic(0)), Box(Atomic(0)))
            scenario.thread("tries") {
                while !word.value.compareExchange(
                    expected: 1, desired: 2, ordering: .relaxed
                ).exchanged {
                    attempts.value.add(1, ordering: .relaxed)
                }
            }
            scenario.thread("other") { word.value.store(3, ordering: .relaxed) }
        }
        #expect(!exploration.survives)
        guard case .tooLong(steps: 2_000, let schedule, let place) = exploration.inconclusive else {
            Issue.record("\(exploration.summary)")
            return
        }
        #expect(schedule.hasPrefix("T"))
        #expect(place.hasPrefix("BoundsTests.swift:"))
        #expect(exploration.summary.contains("look for a loop there"))
    }

    @Test(
        "the report gives the bound on steps that was used",
        arguments: [(-1, "1 step,"), (0, "1 step,"), (1, "1 step,"), (2, "2 steps,")],
        [Exploration.Options.Isolation.none, .patient])
    func steps(bound: (Int, String), isolation: Exploration.Options.Isolation) {
        let exploration = Self.twoByTwo.exploration { options in
            options.maximumSteps = bound.0
            options.isolation = isolation
        }
        #expect(exploration.summary.contains("for more than \(bound.1)"), "\(exploration.summary)")
    }

    @Test("attempts that change nothing are a deadlock")
    func hopelessRetries() {
        let exploration = explore { scenario in
            let word = Box(Atomic(0))
            scenario.thread("tries") {
                while !word.value.compareExchange(
                    expected: 1, desired: 2, ordering: .relaxed
                ).exchanged {}
            }
            scenario.thread("other") { word.value.store(3, ordering: .relaxed) }
        }
        #expect(exploration.findings.map(\.kind) == [.deadlock])
        #expect(exploration.findings.first?.count == exploration.explored)
        #expect(
            exploration.findings.first?.reason.contains("a change that no thread makes") == true)
    }

    // MARK: One at a time

    @Test("explorations that are started at the same time run one after the other")
    func queueUp() async {
        let runs = Scenario.Log<Int>()
        let explorations = await withTaskGroup(of: Exploration.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await Self.onThreadOfItsOwn {
                        explore(options: .everyOrder) { scenario in
                            runs.append(number)
                            BoundsTests.twoByTwo.describe(scenario)
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(explorations.allSatisfy { $0.survives && $0.explored == 6 && $0.coverage == .all })
        // Six interleavings, and a replay of the first one, which may come later.
        let order = runs.entries
        for number in 0..<4 {
            let places = order.indices.filter { order[$0] == number }
            #expect(places.count == 7)
            #expect(places.prefix(6).last == places[0] + 5, "\(order)")
        }
    }

    private static func onThreadOfItsOwn<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
