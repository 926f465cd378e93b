import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Some outcomes depend on reference counts, and so on the order of releases, which are no steps.
@Suite("Reduction respects reference counts", .needsTheLab)
struct CountsTests {
    private struct Pair {
        weak var thing: Thing?
        var looks = 0

        mutating func lookTwice() -> String {
            looks += 1
            if thing == nil { return "gone" }
            return thing == nil ? "lost" : "found"
        }
    }

    private final class Thing: @unchecked Sendable {
        var value = 1
        var atEnd: (() -> Void)?
        deinit { atEnd?() }
    }

    private final class Holder: @unchecked Sendable {
        var strong: Thing?
        weak var weakly: Thing?
        var list: [Thing] = []
        var closure: (() -> Thing)?

        init(_ thing: Thing? = nil) { strong = thing }
    }

    private final class Keeper: @unchecked Sendable {
        var buffer: ManagedBuffer<Int, Int>?
        init(_ buffer: ManagedBuffer<Int, Int>) { self.buffer = buffer }
    }

    /// Its `deinit` retains it, for the closure, before the first step.
    private final class Session: @unchecked Sendable {
        let lock: NSLock
        var uses = 0
        init(_ lock: NSLock) { self.lock = lock }
        deinit { lock.withLock { uses += 1 } }
    }

    private final class Owner: @unchecked Sendable {
        var session: Session?
        weak var weakly: Session?
        init(_ session: Session?) { self.session = session }
    }

    private struct Observer: @unchecked Sendable {
        weak var thing: Thing?
    }

    private final class Part: @unchecked Sendable {
        unowned let whole: Thing
        init(_ whole: Thing) { self.whole = whole }
    }

    private final class Observed {
        unowned let thing: Thing
        weak var weakly: Thing?
        init(_ thing: Thing) { (self.thing, weakly) = (thing, thing) }
        @inline(never) func isAlive() -> Bool { weakly != nil }
    }

    private static func weak(
        _ name: String, _ keep: @escaping @Sendable (Holder, Thing) -> Void,
        _ release: @escaping @Sendable (Holder) -> Void
    ) -> KnownProgram {
        KnownProgram(name, outcomes: ["alive", "gone"], everyOrder: true) { scenario in
            let (owner, other) = (Holder(), Holder())
            do {
                let thing = Thing()
                keep(owner, thing)
                other.weakly = thing
            }
            let seen = Seen()
            scenario.thread("releases") { release(owner) }
            scenario.thread("looks") { seen.note(other.weakly == nil ? "gone" : "alive") }
            scenario.outcome { seen.text }
        }
    }

    private static func observer(
        _ name: String, before: @escaping @Sendable (DispatchSemaphore) -> Void
    ) -> KnownProgram {
        KnownProgram(name, outcomes: ["alive", "gone"], everyOrder: true) { scenario in
            let owner = Holder(Thing())
            let observers = [Observer(thing: owner.strong)]
            let signal = DispatchSemaphore(value: 0)
            let seen = Seen()
            scenario.thread("releases") { owner.strong = nil }
            scenario.thread("looks") {
                before(signal)
                seen.note(observers[0].thing == nil ? "gone" : "alive")
            }
            scenario.outcome { seen.text }
        }
    }

    /// The outcome depends on the order, although no two steps access the same property.
    static let programs = [
        weak("a weak reference", { $0.strong = $1 }, { $0.strong = nil }),
        weak("a weak reference to what a closure holds", { h, t in h.closure = { t } }) {
            $0.closure = nil
        },
        KnownProgram(
            "a weak reference in a mutex, to which it was moved", outcomes: ["alive", "gone"],
            everyOrder: true
        ) { scenario in
            let owner = Holder(Thing())
            let observer = Box(Mutex(Observer(thing: owner.strong)))
            let seen = Seen()
            scenario.thread("releases") { owner.strong = nil }
            scenario.thread("looks") {
                seen.note(observer.value.withLock { $0.thing == nil } ? "gone" : "alive")
            }
            scenario.outcome { seen.text }
        },
        observer("a weak reference in a structure, at the beginning") { _ in },
        KnownProgram(
            "the same, after a look through a property", outcomes: ["alive", "between", "gone"],
            everyOrder: true
        ) { scenario in
            let (owner, other) = (Holder(Thing()), Holder())
            other.weakly = owner.strong
            let observers = [Observer(thing: owner.strong)]
            let seen = Seen()
            scenario.thread("releases") { owner.strong = nil }
            scenario.thread("looks") {
                if other.weakly == nil { return seen.note("gone") }
                seen.note(observers[0].thing == nil ? "between" : "alive")
            }
            scenario.outcome { seen.text }
        },
        observer("the same, right after a signal") { $0.signal() },
        KnownProgram(
            "which thread runs `deinit`", outcomes: ["end 1 2", "end 2 1", "1 end 2", "2 end 1"],
            everyOrder: true
        ) { scenario in
            let (log, thing) = (Scenario.Log<String>(), Thing())
            thing.atEnd = { log.append("end") }
            let holders = [Holder(thing), Holder(thing)]
            scenario.thread("first") {
                holders[0].strong = nil
                log.append("1")
            }
            scenario.thread("second") {
                holders[1].strong = nil
                log.append("2")
            }
            scenario.outcome { log.entries.joined(separator: " ") }
        },
        KnownProgram(
            "a `deinit` that uses itself, under the lock that it takes", .deadlock,
            outcomes: ["12", "21"], everyOrder: true
        ) { scenario in
            let (lock, log) = (NSLock(), Scenario.Log<Int>())
            let session = Session(lock)
            let owners = [Owner(session), Owner(session)]
            scenario.thread("first") {
                lock.lock()
                owners[0].session = nil  // A deadlock, if this is the last reference.
                lock.unlock()
                log.append(1)
            }
            scenario.thread("second") {
                owners[1].session = nil
                log.append(2)
            }
            scenario.outcome { log.entries.map(String.init).joined() }
        },
        KnownProgram("uniqueness", outcomes: ["shared", "unique"], everyOrder: true) { scenario in
            let thing = Thing()
            let holders = [Holder(thing), Holder(thing)]
            let seen = Seen()
            scenario.thread("releases") { holders[0].strong = nil }
            scenario.thread("asks") {
                seen.note(isKnownUniquelyReferenced(&holders[1].strong) ? "unique" : "shared")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram("uniqueness, asked first", outcomes: ["shared", "unique"], everyOrder: true) {
            scenario in
            let thing = Thing()
            let holders = [Holder(thing), Holder(thing), Holder(thing)]
            let seen = Seen()
            scenario.thread("asks") {
                seen.note(isKnownUniquelyReferenced(&holders[0].strong) ? "unique" : "shared")
            }
            scenario.thread("first") { holders[1].strong = nil }
            scenario.thread("second") { holders[2].strong = nil }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "uniqueness of a buffer", outcomes: ["shared", "unique"], everyOrder: true
        ) { scenario in
            let buffer = ManagedBuffer<Int, Int>.create(minimumCapacity: 1) { _ in 0 }
            let holders = [Keeper(buffer), Keeper(buffer)]
            let seen = Seen()
            scenario.thread("releases") { holders[0].buffer = nil }
            scenario.thread("asks") {
                var pointer = ManagedBufferPointer<Int, Int>(
                    unsafeBufferObject: holders[1].buffer!)
                holders[1].buffer = nil
                seen.note(pointer.isUniqueReference() ? "unique" : "shared")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "uniqueness against one more", outcomes: ["shared", "unique"], everyOrder: true
        ) { scenario in
            let thing = Thing()
            let (holder, other, third) = (Holder(thing), Holder(), Holder())
            other.weakly = thing
            let seen = Seen()
            scenario.thread("retains") { third.strong = other.weakly }
            scenario.thread("asks") {
                seen.note(isKnownUniquelyReferenced(&holder.strong) ? "unique" : "shared")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "uniqueness under a lock, of what is released under it", outcomes: ["0", "1"],
            everyOrder: true
        ) { scenario in
            let (thing, lock) = (Thing(), NSLock())
            let (holder, other) = (Holder(thing), Holder(thing))
            var copies = 0
            scenario.thread("copies unless it is the only owner") {
                lock.withLock {
                    if isKnownUniquelyReferenced(&holder.strong) { return }
                    holder.strong = Thing()
                    copies += 1
                }
            }
            scenario.thread("releases") {
                var thing = other.strong
                other.strong = nil
                lock.withLock { thing = nil }
                _ = thing
            }
            scenario.outcome { "\(copies)" }
        },
        // Without the lab also "shared": a limit that its documentation names.
        KnownProgram(
            "uniqueness against one that is dropped before the next step", outcomes: ["unique"],
            everyOrder: true
        ) { scenario in
            let (holder, lock, seen) = (Holder(Thing()), NSLock(), Seen())
            scenario.thread("looks") {
                let thing = lock.withLock { holder.strong }
                withExtendedLifetime(thing) {}
            }
            scenario.thread("asks") {
                let isUnique = lock.withLock { isKnownUniquelyReferenced(&holder.strong) }
                seen.note(isUnique ? "unique" : "shared")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "an object may end between a look through a weak reference and one through a constant",
            .crash, options: .isolated
        ) { scenario in
            let owner = Holder(Thing())
            let observed = Observed(owner.strong!)
            scenario.thread("reads") { if observed.isAlive() { _ = observed.thing } }
            scenario.thread("releases") { owner.strong = nil }
        },
        // A library may keep a mark in an upper bit of the reference that it retains.
        KnownProgram(
            "references with marks are retained, and values that are no objects are not",
            outcomes: ["later seconds"], options: .isolated
        ) { scenario in
            let log = Scenario.Log<String>()
            scenario.thread("replaces") {
                log.append("after 0.5 seconds".replacing(/after \d+\.\d+/, with: "later"))
            }
            scenario.outcome { log.entries.joined() }
        },
        KnownProgram(
            "work that its sender's last release does not wait for", outcomes: ["alive", "gone"],
            explored: 2...2, everyOrder: true
        ) { scenario in
            let seen = Seen()
            scenario.thread("sends") {
                let thing = Thing()
                DispatchQueue.global().async { [weak thing] in
                    seen.note(thing == nil ? "gone" : "alive")
                }
                withExtendedLifetime(thing) {}
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "the same with the element of an array", outcomes: ["alive", "gone"], explored: 2...2,
            everyOrder: true
        ) { scenario in
            let seen = Seen()
            scenario.thread("sends") {
                let things = [Thing(), Thing()]
                DispatchQueue.global().async { [weak thing = things[0]] in
                    seen.note(thing == nil ? "gone" : "alive")
                }
                withExtendedLifetime(things) {}
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "the same with an unowned reference", .crash, alwaysFails: false, options: .isolated
        ) { scenario in
            scenario.thread("sends") {
                let thing = Thing()
                DispatchQueue.global().async { [unowned thing] in _ = thing }
                withExtendedLifetime(thing) {}
            }
        },
        // Without the lab also "1": a limit that its documentation names.
        cache("what a cache refers to weakly may be in use") {
            let lock = NSLock()
            return { work in lock.withLock(work) }
        },
        cache("the same with a lock that is released without a call") {
            let lock = Locked()
            return { work in lock.mutex.withLock { _ in work() } }
        },
        KnownProgram(
            "the result of a child task", outcomes: ["gone", "alive"], everyOrder: true
        ) { scenario in
            let (holder, log) = (Holder(Thing()), Scenario.Log<String>())
            holder.weakly = holder.strong
            scenario.task("awaits") {
                async let result = holder.strong.take()!
                _ = await result.value
            }
            scenario.thread("looks") { log.append(holder.weakly == nil ? "gone" : "alive") }
            scenario.outcome { log.entries[0] }
        },
        KnownProgram(
            "what a library holds", outcomes: ["gone", "alive"], everyOrder: true
        ) { scenario in
            let (holder, log) = (Holder(), Scenario.Log<String>())
            let (all, signal) = (NSMutableArray(object: Thing()), DispatchSemaphore(value: 0))
            holder.weakly = all[0] as? Thing
            scenario.thread("releases") {
                signal.signal()
                all.removeAllObjects()
            }
            scenario.thread("looks") {
                signal.wait()
                log.append(holder.weakly == nil ? "gone" : "alive")
            }
            scenario.outcome { log.entries[0] }
        },
        KnownProgram(
            "a weak reference that is read twice in one modification",
            outcomes: ["found", "gone", "lost"], everyOrder: true
        ) { scenario in
            nonisolated(unsafe) var owner: Thing? = Thing()
            nonisolated(unsafe) var pair = Pair(thing: owner)
            nonisolated(unsafe) var result = ""
            scenario.thread("releases") { owner = nil }
            scenario.thread("looks") { result = pair.lookTwice() }
            scenario.outcome { result }
        },
        // The reference is gone when another thread goes on. Without the lab, "shared" is possible.
        KnownProgram(
            "a reference that is released after a lock is no longer one for the next thread",
            outcomes: ["not used", "unique"], everyOrder: true
        ) { scenario in
            let lock = NSLock()
            nonisolated(unsafe) var thing = Thing()
            nonisolated(unsafe) var isUsed = false
            nonisolated(unsafe) var result = "not used"
            scenario.thread("uses") {
                let mine = thing
                lock.withLock { isUsed = true }
                withExtendedLifetime(mine) {}
            }
            scenario.thread("asks") {
                guard lock.withLock({ isUsed }) else { return }
                result = isKnownUniquelyReferenced(&thing) ? "unique" : "shared"
            }
            scenario.outcome { result }
        },
    ]

    private final class Locked: Sendable { let mutex = Mutex(()) }

    private static func cache(
        _ name: String, lock: @escaping @Sendable () -> (() -> Thing) -> Thing
    ) -> KnownProgram {
        KnownProgram(name, outcomes: ["1", "2"], everyOrder: true) { scenario in
            let cache = Holder()
            nonisolated(unsafe) let withLock = lock()
            nonisolated(unsafe) var made = 0
            for name in ["left", "right"] {
                scenario.thread(name) {
                    let thing = withLock {
                        if let thing = cache.weakly { return thing }
                        made += 1
                        let thing = Thing()
                        cache.weakly = thing
                        return thing
                    }
                    withExtendedLifetime(thing) {}
                }
            }
            scenario.outcome { "\(made)" }
        }
    }

    @Test("no outcome is lost", arguments: programs)
    func reduced(_ program: KnownProgram) { program.check() }

    @Test("each interleaving is visited once, although the exploration starts over")
    func visited() throws {
        let exploration = explore { scenario in
            let (owner, other, seen) = (Holder(Thing()), Holder(), Seen())
            other.weakly = owner.strong
            let flag = Atomic(false)
            // The first interleaving does not look, so the lab learns of the reference later.
            scenario.thread("looks") {
                if flag.load(ordering: .acquiring) {
                    seen.note(other.weakly == nil ? "gone" : "alive")
                }
            }
            scenario.thread("releases") {
                flag.store(true, ordering: .releasing)
                owner.strong = nil
            }
        }
        var schedules: [String] = []
        try Recorder(exploration).visitKinds {
            schedules.append($0.scheduleText)
            return true
        }
        #expect(schedules.count == exploration.explored)
        #expect(Set(schedules).count == schedules.count, "\(schedules)")
    }

    @Test("an unowned reference may be read after its object has been freed")
    func unownedAfterQuestion() {
        var options = Exploration.Options()
        options.isolation = .patient
        let exploration = explore(options: options) { scenario in
            let owner = Holder(Thing())
            let part = Part(owner.strong!)
            let signal = DispatchSemaphore(value: 0)
            scenario.thread("reads") {
                signal.signal()
                part.whole.value += 1
            }
            scenario.thread("releases") {
                signal.wait()
                owner.strong = nil
            }
        }
        #expect(exploration.findings.map(\.kind) == [.crash], "\(exploration.text())")
        #expect(!exploration.hasWeakOrderings)  // The runtime's own are not the program's.
    }

    @Test("an unowned reference is loaded after a question about the same object")
    func unowned() {
        var options = Exploration.Options()
        options.isolation = .childProcess()
        let exploration = explore(options: options) { scenario in
            let lock = NSLock()
            nonisolated(unsafe) var owner: Thing? = Thing()
            let use = { [unowned thing = owner!] in thing.value }
            scenario.thread("uses") { if lock.withLock({ owner != nil }) { _ = use() } }
            scenario.thread("releases") { lock.withLock { owner = nil } }
        }
        #expect(exploration.findings.map(\.kind) == [.crash], "\(exploration.text())")
        #expect(exploration.failing < exploration.explored)
    }

    /// It keeps a weak reference to each error.
    @Test("what the test library does with an error that is thrown is no step of the scenario")
    func thrown() {
        final class Failure: Error {}
        let exploration = explore { scenario in
            let failure: any Error = Failure()
            for name in ["first", "second"] {
                var kept: (any Error)? = failure
                scenario.thread(name) {
                    try? { throw kept! }()
                    kept = nil
                }
            }
        }
        #expect(exploration.explored == 1, "\(exploration.text())")
    }
}
