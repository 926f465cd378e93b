#if os(Linux)
    import Foundation
    import RaceLabTesting
    import Synchronization
    import Testing

    @testable import RaceLab

    /// Memory that the code under test accesses without a call of the Swift runtime.
    @Suite("Accesses that nothing announces", .needsTheLab)
    struct UnannouncedTests {
        private final class Counter: @unchecked Sendable {
            @exclusivity(unchecked) var value = 0
            var other = 0
            let lock = NSLock()
        }

        /// An open class, whose accessors have no lines.
        private class Open: @unchecked Sendable {
            @exclusivity(unchecked) var value = 0
        }

        private final class Buffer: @unchecked Sendable {
            let memory = UnsafeMutablePointer<Int>.allocate(capacity: 2)
            let isReady = Atomic(false)
            var seen = 0
            init() { memory.initialize(repeating: 0, count: 2) }
            deinit { memory.deallocate() }
        }

        private static func options(reduces: Bool) -> Exploration.Options {
            var options = Exploration.Options()
            options.reduction = reduces
            return options
        }

        private static func losesAnUpdate(_ scenario: Scenario) {
            let counter = Counter()
            for name in ["first", "second"] {
                scenario.thread(name) {
                    let seen = counter.value
                    counter.value = seen + 1
                }
            }
            scenario.check { try Scenario.require(counter.value == 2, "an update was lost") }
        }

        @Test("a lost update of a property that is not checked is found", arguments: [true, false])
        func property(reduces: Bool) throws {
            let exploration = explore(
                options: Self.options(reduces: reduces), Self.losesAnUpdate)
            let reasons = exploration.findings.map(\.reason)
            #expect(reasons.contains("an update was lost"), "\(exploration.summary)")
            #expect(exploration.findings.contains { $0.kind == .overlap || $0.kind == .dataRace })
            let trace = try #require(try exploration.counterexample())
            #expect(trace.steps.map(\.text).contains("counter.value = seen + 1"))
        }

        @Test("one through accessors without lines is found")
        func accessors() {
            let exploration = explore { scenario in
                let counter = Open()
                for name in ["first", "second"] { scenario.thread(name) { counter.value += 1 } }
            }
            #expect(exploration.failing > 0, "\(exploration.summary)")
        }

        @Test("memory behind a pointer is found")
        func pointer() {
            let exploration = explore { scenario in
                let buffer = Buffer()
                for name in ["first", "second"] {
                    scenario.thread(name) { buffer.memory[1] += 1 }
                }
                scenario.outcome { "\(buffer.memory[1])" }
            }
            #expect(exploration.failing > 0, "\(exploration.summary)")
        }

        @Test("under a lock, they are no steps, and cause no further interleavings")
        func locked() {
            let exploration = explore { scenario in
                let (counter, buffer) = (Counter(), Buffer())
                for name in ["first", "second"] {
                    scenario.thread(name) {
                        counter.lock.withLock {
                            counter.value += 1
                            buffer.memory[0] += 1
                        }
                    }
                }
                scenario.check { try Scenario.require(counter.value == 2, "an update was lost") }
            }
            #expect(exploration.survives, "\(exploration.summary)")
            #expect(exploration.explored == 2)
        }

        @Test("memory that is passed on by an atomic store is ordered if the store releases")
        func passedOn() {
            for isOrdered in [true, false] {
                var options = Exploration.Options()
                options.failingKinds.insert(.dataRace)
                let exploration = explore(options: options) { scenario in
                    let buffer = Buffer()
                    scenario.thread("writes") {
                        buffer.memory[0] = 1
                        if isOrdered {
                            buffer.isReady.store(true, ordering: .releasing)
                        } else {
                            buffer.isReady.store(true, ordering: .relaxed)
                        }
                    }
                    scenario.thread("reads") {
                        guard buffer.isReady.load(ordering: .acquiring) else { return }
                        buffer.seen = buffer.memory[0]
                    }
                }
                #expect(exploration.survives == isOrdered, "\(exploration.summary)")
                #expect(exploration.inconclusive == nil)
            }
        }

        private final class Node: @unchecked Sendable {
            let value: Int
            init(_ value: Int) { self.value = value }
        }

        @Test(
            "so is what a thread writes before it publishes the address",
            arguments: [true, false], [AtomicStoreOrdering.releasing, .relaxed])
        func published(isObject: Bool, ordering: AtomicStoreOrdering) {
            let isOrdered = ordering == .releasing
            var options = Exploration.Options()
            options.failingKinds.insert(.dataRace)
            let exploration = explore(options: options) { scenario in
                let first = Box(Atomic(UnsafeMutableRawPointer?.none))
                let buffer = Buffer()
                scenario.thread("writes") {
                    let new: UnsafeMutableRawPointer
                    if isObject {
                        new = Unmanaged.passRetained(Node(1)).toOpaque()
                    } else {
                        let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
                        memory.pointee = 1
                        new = UnsafeMutableRawPointer(memory)
                    }
                    if isOrdered {
                        first.value.store(new, ordering: .releasing)
                    } else {
                        first.value.store(new, ordering: .relaxed)
                    }
                }
                scenario.thread("reads") {
                    guard let found = first.value.load(ordering: .acquiring) else { return }
                    buffer.seen =
                        isObject
                        ? Unmanaged<Node>.fromOpaque(found).takeUnretainedValue().value
                        : found.assumingMemoryBound(to: Int.self).pointee
                }
            }
            #expect(exploration.survives == isOrdered, "\(exploration.summary)")
            #expect(exploration.inconclusive == nil)
        }

        @Test("the schedule of one process can be replayed in another")
        func replay() async {
            await #expect(processExitsWith: .success) {
                let trace = try Exploration.replay("FSFS", Self.losesAnUpdate)
                #expect(trace.findings.map(\.kind).contains(.failedCheck))
            }
        }

        @Test("in child processes, the verdict is the same")
        func isolated() throws {
            var options = Exploration.Options()
            options.isolation = .childProcess()
            let exploration = explore(options: options, Self.losesAnUpdate)
            #expect(exploration.findings.map(\.reason).contains("an update was lost"))
            #expect(try exploration.counterexample() != nil)
        }

        // MARK: Pointers for C

        @Test("a variable that is passed to C by pointer is no data race, and gives no verdict")
        func byPointer() {
            final class Seed: @unchecked Sendable { var value: UInt32 = 1 }
            let exploration = explore { scenario in
                let seed = Seed()
                for name in ["first", "second"] {
                    scenario.thread(name) { _ = rand_r(&seed.value) }
                }
            }
            guard case .uncontrolled(let what, let place) = exploration.inconclusive else {
                Issue.record("\(exploration.summary)")
                return
            }
            #expect(what.hasPrefix("passes a variable by pointer"))
            #expect(place.hasPrefix("UnannouncedTests.swift:"))
        }

        @Test("a race with an access of Swift code is one, and so is a race of `inout` parameters")
        func swiftAccesses() {
            final class Seed: @unchecked Sendable {
                var value: UInt32 = 1
                var list = [1, 2]
            }
            let mixed = explore { scenario in
                let seed = Seed()
                scenario.thread("first") { _ = rand_r(&seed.value) }
                scenario.thread("second") { seed.value = 2 }
            }
            #expect(mixed.failing > 0, "\(mixed.summary)")
            let lists = explore { scenario in
                let seed = Seed()
                for name in ["first", "second"] { scenario.thread(name) { seed.list.append(3) } }
            }
            #expect(lists.failing > 0 && lists.findings.count == 1, "\(lists.summary)")
        }
    }
#endif
