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
            var seen = 0
            init() { memory.initialize(repeating: 0, count: 2) }
            deinit { memory.deallocate() }
        }

        private struct Six {
            var first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0
        }

        private final class Parts: @unchecked Sendable {
            let all = UnsafeMutablePointer<Six>.allocate(capacity: 1)
            let halves: UnsafeMutablePointer<Int32>
            let bytes: UnsafeMutablePointer<UInt8>

            init() {
                all.initialize(to: Six())
                halves = UnsafeMutableRawPointer(all).assumingMemoryBound(to: Int32.self)
                bytes = UnsafeMutableRawPointer(all).assumingMemoryBound(to: UInt8.self)
            }
        }

        private static func losesAnUpdate(_ scenario: Scenario) {
            let counter = Counter()
            scenario.threads("first", "second") {
                let seen = counter.value
                counter.value = seen + 1
            }
            scenario.check { try Scenario.require(counter.value == 2, "an update was lost") }
        }

        private final class Published: @unchecked Sendable {
            private let address = Atomic<UnsafeMutableRawPointer?>(nil)
            var found: UnsafeMutableRawPointer? { address.load(ordering: .acquiring) }

            func publish(_ new: UnsafeMutableRawPointer, _ ordering: AtomicStoreOrdering) {
                if ordering == .releasing {
                    address.store(new, ordering: .releasing)
                } else {
                    address.store(new, ordering: .relaxed)
                }
            }
        }

        private final class Locked: @unchecked Sendable {
            var one = pthread_mutex_t(), other = pthread_mutex_t()
            init() {
                pthread_mutex_init(&one, nil)
                pthread_mutex_init(&other, nil)
            }
        }

        private static func takesTwoLocks(_ scenario: Scenario) {
            let locked = Locked()
            scenario.thread("first") {
                pthread_mutex_lock(&locked.one)
                pthread_mutex_lock(&locked.other)
                pthread_mutex_unlock(&locked.other)
                pthread_mutex_unlock(&locked.one)
            }
            scenario.thread("second") {
                pthread_mutex_lock(&locked.other)
                pthread_mutex_lock(&locked.one)
                pthread_mutex_unlock(&locked.one)
                pthread_mutex_unlock(&locked.other)
            }
        }

        private static func publishesAnObject(_ scenario: Scenario) {
            let (first, buffer) = (Published(), Buffer())
            scenario.thread("first") {
                first.publish(Unmanaged.passRetained(Node(1)).toOpaque(), .relaxed)
            }
            scenario.thread("second") {
                guard let found = first.found else { return }
                buffer.seen = Unmanaged<Node>.fromOpaque(found).takeUnretainedValue().value
            }
        }

        private final class Another: @unchecked Sendable {
            @exclusivity(unchecked) var value = 0
        }

        @Sendable private static func crashesWhenWritten(_ scenario: Scenario) {
            let (another, number, log) = (Another(), Box(Atomic(0)), Scenario.Log<Int>())
            scenario.thread("writes") {
                number.value.store(1, ordering: .sequentiallyConsistent)
                another.value = 1
            }
            scenario.thread("reads") {
                let loaded = number.value.load(ordering: .sequentiallyConsistent)
                precondition(another.value == 0, "written")
                log.append(loaded)
            }
            scenario.outcome { "\(log.entries)" }
        }

        @Test("a lost update of a property that is not checked is found", arguments: [true, false])
        func property(reduces: Bool) throws {
            let exploration = explore(
                options: .reducing(reduces), Self.losesAnUpdate)
            let reasons = exploration.findings.map(\.reason)
            #expect(reasons.contains("an update was lost"), "\(exploration.summary)")
            #expect(exploration.findings.contains { $0.kind == .overlap || $0.kind == .dataRace })
            let trace = try #require(try exploration.counterexample())
            #expect(trace.steps.map(\.text).contains("counter.value = seen + 1"))
        }

        @Test("has its known result", arguments: programs)
        func known(_ program: KnownProgram) { program.check() }

        private static let programs = [
            KnownProgram("a lost update through accessors without lines", .overlap) { scenario in
                let counter = Open()
                scenario.threads("first", "second") { counter.value += 1 }
            },
            KnownProgram("memory behind a pointer", .overlap, outcomes: ["2"]) { scenario in
                let buffer = Buffer()
                scenario.threads("first", "second") { buffer.memory[1] += 1 }
                scenario.outcome { "\(buffer.memory[1])" }
            },
            KnownProgram(
                "a whole structure is written, and a part of it read", .dataRace,
                outcomes: ["0", "5"], everyOrder: true
            ) { scenario in
                let (parts, other) = (Parts(), Box(Atomic(0)))
                var seen = 0
                scenario.thread("writes") {
                    other.value.add(1, ordering: .relaxed)
                    parts.all.pointee = Six(second: 2, fifth: 5)
                }
                scenario.thread("reads") {
                    seen = parts.all.pointee.fifth
                    other.value.add(1, ordering: .relaxed)
                }
                scenario.outcome { "\(seen)" }
            },
            KnownProgram(
                "half of a word is read", .dataRace, outcomes: ["0", "1"], everyOrder: true
            ) { scenario in
                let parts = Parts()
                var seen: Int32 = 0
                scenario.thread("writes") { parts.all.pointee.second = 0x1_0000_0000 }
                scenario.thread("reads") { seen = parts.halves[3] }
                scenario.outcome { "\(seen)" }
            },
            KnownProgram(
                "half of a word is written, and a byte of it read", .dataRace,
                outcomes: ["0", "1"], everyOrder: true
            ) { scenario in
                let parts = Parts()
                var seen: UInt8 = 0
                scenario.thread("writes") { parts.halves[0] = 0x1_0000 }
                scenario.thread("reads") { seen = parts.bytes[2] }
                scenario.outcome { "\(seen)" }
            },
            KnownProgram("neighbors in a word are independent", explored: 1...1) { scenario in
                let parts = Parts()
                scenario.thread("first") { parts.halves[2] += 1 }
                scenario.thread("second") { parts.halves[3] += 1 }
            },
            KnownProgram(
                "under a lock, they are no steps, and cause no further interleavings",
                explored: 2...2
            ) { scenario in
                let (counter, buffer) = (Counter(), Buffer())
                scenario.threads("first", "second") {
                    counter.lock.withLock {
                        counter.value += 1
                        buffer.memory[0] += 1
                    }
                }
                scenario.check { try Scenario.require(counter.value == 2, "an update was lost") }
            },
            KnownProgram(
                "the first child process crashes as soon as it knows that they are steps", .crash,
                .dataRace, outcomes: ["[0]", "[1]"], options: .isolated,
                crashesWhenWritten),
            KnownProgram("a variable that is passed to C, and accessed by Swift code", .overlap) {
                scenario in
                let seed = Seed()
                scenario.thread("first") { _ = rand_r(&seed.value) }
                scenario.thread("second") { seed.value = 2 }
            },
            KnownProgram(
                "`inout` parameters", .overlap, reason: ["both threads can be in the middle of"]
            ) { scenario in
                let seed = Seed()
                scenario.threads("first", "second") { seed.list.append(3) }
            },
            KnownProgram(
                "a constant of an object, and a property of it as `inout`", explored: 2...2
            ) {
                scenario in
                let shared = Shared()
                scenario.threads("first", "second") { shared.owner.change { $0 += 1 } }
            },
            KnownProgram("two properties of one object, both as `inout`", explored: 1...1) {
                scenario in
                let shared = Shared()
                scenario.thread("first") { shared.owner.changeWithoutLock { $0 += 1 } }
                scenario.thread("second") { shared.owner.changeCount { $0 += 1 } }
            },
            KnownProgram("one property, twice as `inout`", .overlap) { scenario in
                let shared = Shared()
                scenario.threads("first", "second") { shared.owner.changeCount { $0 += 1 } }
            },
        ]

        fileprivate final class Guarded<Value: ~Copyable> {
            let lock = NSLock()
            var value: Value
            var count = 0
            init(_ value: consuming Value) { self.value = value }
            func take() { lock.lock() }
            func leave() { lock.unlock() }
        }

        /// If a property of an object that a borrowed noncopyable value holds is passed as `inout`,
        /// the compiler also announces the object. The compiler of Swift 6.2 crashes there.
        #if compiler(>=6.3)
            fileprivate struct Owner<Value: ~Copyable>: ~Copyable {
                let guarded: Guarded<Value>
            }
        #else
            fileprivate struct Owner<Value: ~Copyable> {
                let guarded: Guarded<Value>
            }
        #endif

        private final class Shared: @unchecked Sendable {
            let owner = Owner(guarded: Guarded(0))
        }

        private final class Seed: @unchecked Sendable {
            var value: UInt32 = 1
            var list = [1, 2]
        }

        private final class Node: @unchecked Sendable {
            let value: Int
            init(_ value: Int) { self.value = value }
        }

        @Test(
            "what a thread writes before it publishes an address is ordered if the store releases",
            arguments: [true, false], [AtomicStoreOrdering.releasing, .relaxed])
        func published(isObject: Bool, ordering: AtomicStoreOrdering) {
            let isOrdered = ordering == .releasing
            let options = Exploration.Options.with { $0.failingKinds.insert(.dataRace) }
            let exploration = explore(options: options) { scenario in
                let first = Published()
                let buffer = Buffer()
                scenario.thread("writes") {
                    if isObject {
                        first.publish(Unmanaged.passRetained(Node(1)).toOpaque(), ordering)
                    } else {
                        let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
                        memory.pointee = 1
                        first.publish(memory, ordering)
                    }
                }
                scenario.thread("reads") {
                    guard let found = first.found else { return }
                    buffer.seen =
                        isObject
                        ? Unmanaged<Node>.fromOpaque(found).takeUnretainedValue().value
                        : found.assumingMemoryBound(to: Int.self).pointee
                }
            }
            #expect(exploration.survives == isOrdered, "\(exploration.summary)")
            #expect(exploration.inconclusive == nil)
        }

        private final class Holder<Value>: @unchecked Sendable {
            let value: Value
            init(_ value: Value) { self.value = value }
        }

        @Test(
            "of an object of a generic type it is not seen, which is said",
            arguments: [true, false], [AtomicStoreOrdering.releasing, .relaxed])
        func publishedGenerically(isRetained: Bool, ordering: AtomicStoreOrdering) {
            let exploration = explore { scenario in
                let first = Published()
                let buffer = Buffer()
                scenario.thread("writes") {
                    first.publish(Unmanaged.passRetained(Holder(1)).toOpaque(), ordering)
                }
                scenario.thread("reads") {
                    guard let found = first.found else { return }
                    let unmanaged = Unmanaged<Holder<Int>>.fromOpaque(found)
                    let holder =
                        isRetained ? unmanaged.takeUnretainedValue() : unmanaged.takeRetainedValue()
                    buffer.seen = holder.value
                }
            }
            #expect(exploration.survives == (ordering == .releasing), "\(exploration.summary)")
            #expect((exploration.inconclusive == nil) == (ordering == .releasing))
            #expect(exploration.findings.isEmpty)
        }

        @Test("an access that has become a step conflicts with one that is none yet")
        func learned() {
            let write = { (buffer: Buffer) in buffer.memory[0] = 1 }
            let same = explore { scenario in
                let buffer = Buffer()
                scenario.threads("first", "second") { write(buffer) }
            }
            #expect(same.findings.map(\.kind) == [.overlap])
            let writing = explore { scenario in
                let buffer = Buffer()
                scenario.thread("first") { write(buffer) }
                scenario.thread("second") { buffer.memory[0] = 2 }
            }
            #expect(writing.findings.map(\.kind) == [.overlap])
            let reading = explore { scenario in
                let buffer = Buffer()
                scenario.thread("reads") { buffer.seen = buffer.memory[0] }
                scenario.thread("writes") { write(buffer) }
            }
            #expect(reading.findings.map(\.kind) == [.dataRace])
        }

        @Test("the schedule of one process can be replayed in another")
        func replay() async {
            await #expect(processExitsWith: .success) {
                let trace = try Exploration.replay("FSFS", Self.losesAnUpdate)
                #expect(trace.findings.map(\.kind).contains(.failedCheck))
            }
        }

        @Test("so can that of a deadlock of locks in properties, also if it is incomplete")
        func replayOfDeadlock() async {
            await #expect(processExitsWith: .success) {
                let trace = try Exploration.replay("FS", Self.takesTwoLocks)
                #expect(trace.findings.map(\.kind) == [.deadlock])
            }
            await #expect(processExitsWith: .success) {
                let completed = try Exploration.replay(prefix: "S", Self.takesTwoLocks)
                #expect(completed.mismatch == nil)
                #expect(completed.trace.scheduleText == "SF")
            }
        }

        @Test("so can that in which an object is published too weakly")
        func replayOfPublication() async {
            await #expect(processExitsWith: .success) {
                let trace = try Exploration.replay("FFSSS", Self.publishesAnObject)
                #expect(trace.findings.map(\.kind) == [.dataRace])
            }
        }

        @Test("so can that of a crash")
        func replayOfCrash() async {
            await #expect(processExitsWith: .success) {
                let trace = try Exploration.replay(
                    "WWRR", options: .isolated, Self.crashesWhenWritten)
                #expect(trace.scheduleText == "WWRR")
                #expect(trace.findings.map(\.kind) == [.crash])
            }
        }
    }

    extension UnannouncedTests.Owner where Value: ~Copyable {
        fileprivate func change(_ change: (inout Value) -> Void) {
            guarded.take()
            defer { guarded.leave() }
            change(&guarded.value)
        }
        fileprivate func changeWithoutLock(_ change: (inout Value) -> Void) {
            change(&guarded.value)
        }
        fileprivate func changeCount(_ change: (inout Int) -> Void) { change(&guarded.count) }
    }
#endif
