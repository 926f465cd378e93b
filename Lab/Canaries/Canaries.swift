import Dispatch
import Foundation
import Synchronization

extension Canary {
    static let atomics = [
        Canary(.relaxed, ["sent", "nothing"], hasDataRace: true) {
            message({ $0.store(true, ordering: .relaxed) }, { $0.load(ordering: .relaxed) })
        },
        Canary(.acquireRelease, ["sent", "nothing"]) {
            message({ $0.store(true, ordering: .releasing) }, { $0.load(ordering: .acquiring) })
        },
        Canary(.exchanges, ["sent", "nothing"]) {
            message(
                { _ = $0.exchange(true, ordering: .acquiringAndReleasing) },
                {
                    $0.compareExchange(
                        expected: true, desired: true, ordering: .acquiringAndReleasing
                    ).exchanged
                })
        },
        Canary(.sequentiallyConsistent, ["true true", "true false", "false true"]) {
            let flags = [Flag(), Flag()]
            let seen = [Box(false), Box(false)]
            let body = { (own: Int) in
                flags[own].atomic.store(true, ordering: .sequentiallyConsistent)
                seen[own].value = flags[1 - own].atomic.load(ordering: .sequentiallyConsistent)
            }
            return threads({ "\(seen[0].value) \(seen[1].value)" }, { body(0) }, { body(1) })
        },
        Canary(.fences, ["sent", "nothing"]) {
            message(
                {
                    atomicMemoryFence(ordering: .releasing)
                    $0.store(true, ordering: .relaxed)
                },
                {
                    guard $0.load(ordering: .relaxed) else { return false }
                    atomicMemoryFence(ordering: .acquiring)
                    return true
                })
        },
    ]

    /// One thread writes a property and sends a signal. If the other one receives it, it reads the
    /// property.
    private static func message(
        _ send: @escaping (borrowing Atomic<Bool>) -> Void,
        _ receive: @escaping (borrowing Atomic<Bool>) -> Bool
    ) -> Run {
        let (flag, box, seen) = (Flag(), Box("nothing"), Box("nothing"))
        return threads(
            { seen.value },
            {
                box.value = "sent"
                send(flag.atomic)
            },
            { if receive(flag.atomic) { seen.value = box.value == "nothing" ? "?" : "sent" } })
    }

    // The value is read after the modification has begun, and before it ends.
    static let lasting = [
        Canary(.lastingAccesses, ["1"], hasDataRace: true) {
            let (box, seen) = (Box(0), Box(0))
            return Run(
                bodies: [
                    .sender { send in change(&box.value) { send { seen.value = box.value } } }
                ], outcome: { "\(seen.value)" })
        }
    ]

    static let locks = [
        Canary(.mutex, ["1", "2"]) {
            let guarded = Guarded()
            return twice({ "\(guarded.value)" }) {
                let seen = guarded.value
                guarded.value = seen + 1
            }
        }
    ]

    static let library = [
        Canary(.pthreadLocks, ["1", "2"]) {
            let (lock, box) = (Lock(), Box(0))
            return twice({ "\(box.value)" }) {
                let seen = lock.whileLocked { box.value }
                lock.whileLocked { box.value = seen + 1 }
            }
        },
        Canary(.foundationLocks, ["1", "2"]) {
            let (lock, box) = (NSLock(), Box(0))
            return twice({ "\(box.value)" }) {
                let seen = lock.withLock { box.value }
                lock.withLock { box.value = seen + 1 }
            }
        },
        Canary(.queues, ["1", "2"]) {
            let (queue, box) = (DispatchQueue(label: "canary"), Box(0))
            let work = { @Sendable (number: Int) in
                if box.value == 0 { box.value = number }
            }
            return threads(
                { "\(box.value)" }, { queue.async { work(1) } }, { queue.async { work(2) } })
        },
        Canary(.semaphores, ["sent"]) {
            let (semaphore, box) = (DispatchSemaphore(value: 0), Box("nothing"))
            // Never freed: the process would trap if a thread that the lab lost still waits.
            _ = Unmanaged.passRetained(semaphore)
            return threads(
                { box.value },
                {
                    semaphore.wait()
                    if box.value != "sent" { box.value = "?" }
                },
                {
                    box.value = "sent"
                    semaphore.signal()
                })
        },
        Canary(.threads, ["0", "1"], hasDataRace: true) {
            let (box, seen) = (Box(0), Box(0))
            return threads(
                { "\(seen.value)" },
                {
                    Thread.detachNewThread { box.value = 1 }
                    seen.value = box.value
                })
        },
    ]
}

// MARK: - References

extension Canary {
    static let references = [
        Canary(.weakReferences, ["alive", "gone"]) {
            let (owner, observer, seen) = (Owner(), Observer(), Box("alive"))
            observer.observed = owner.owned
            return threads(
                { seen.value }, { owner.owned = nil },
                { if observer.observed == nil { seen.value = "gone" } })
        },
        Canary(.uniqueness, ["shared", "unique"]) {
            let (first, second, seen) = (Owner(), Owner(), Box("shared"))
            second.owned = first.owned
            return threads(
                { seen.value }, { first.owned = nil },
                { if isKnownUniquelyReferenced(&second.owned) { seen.value = "unique" } })
        },
        // The thread that releases last ends the object, before its own next step.
        Canary(
            .releases, ["1 end 2", "2 end 1", "end 1 2", "end 2 1"], hasDataRace: true
        ) {
            let (log, owners) = (Box<[String]>([]), twoOwners())
            owners[0].owned?.atEnd = { log.value.append("end") }
            let body = { (number: Int) in
                owners[number - 1].owned = nil
                log.value.append("\(number)")
            }
            return threads({ log.value.joined(separator: " ") }, { body(1) }, { body(2) })
        },
        Canary(.deinitializers, ["first", "second"]) {
            let (endedBy, first, owners) = (Box(0), Box(0), twoOwners())
            owners[0].owned?.atEnd = { endedBy.value = numberOfThread() }
            return threads(
                { endedBy.value == first.value ? "first" : "second" },
                {
                    first.value = numberOfThread()
                    owners[0].owned = nil
                }, { owners[1].owned = nil })
        },
    ]

    private static func twoOwners() -> [Owner] {
        let (first, second) = (Owner(), Owner())
        second.owned = first.owned
        return [first, second]
    }

    private static func numberOfThread() -> Int { Int(bitPattern: pthread_self()) }
}

private final class Owned {
    var atEnd: (() -> Void)?

    deinit { atEnd?() }
}

private final class Owner: @unchecked Sendable {
    var owned: Owned? = Owned()
}

private final class Observer: @unchecked Sendable {
    weak var observed: Owned?
}

// MARK: - Tasks

extension Canary {
    static let concurrency = [
        Canary(.tasks, ["0 1", "1 1"], hasDataRace: true) {
            let (box, early, late) = (Box(0), Box(0), Box(0))
            return tasks({ "\(early.value) \(late.value)" }) {
                let task = Task { box.value = 1 }
                early.value = box.value
                await task.value
                late.value = box.value
            }
        },
        Canary(.actors, ["1", "2"]) {
            let box = Box(0)
            let counter = Counter(box)
            let body = { @Sendable in
                let seen = await counter.value
                await counter.set(seen + 1)
            }
            return tasks({ "\(box.value)" }, body, body)
        },
        Canary(.continuations, ["sent"]) {
            let (box, seen) = (Box("nothing"), Box(""))
            return tasks({ seen.value }) {
                await withUnsafeContinuation { continuation in
                    Task {
                        box.value = "sent"
                        continuation.resume()
                    }
                }
                seen.value = box.value
            }
        },
        Canary(.streams, ["1 2", "2"]) {
            let (stream, continuation) = AsyncStream.makeStream(
                of: Int.self, bufferingPolicy: .bufferingNewest(1))
            let received = Box<[Int]>([])
            return tasks(
                { received.value.map(String.init).joined(separator: " ") },
                { for await number in stream { received.value.append(number) } },
                {
                    continuation.yield(1)
                    continuation.yield(2)
                    continuation.finish()
                })
        },
    ]
}

private actor Counter {
    private let box: Box<Int>

    init(_ box: Box<Int>) { self.box = box }

    var value: Int { box.value }
    func set(_ value: Int) { box.value = value }
}

@inline(never)
private func change(_ number: inout Int, after function: () -> Void) {
    function()
    number += 1
}

// MARK: - Locks

private final class Flag: @unchecked Sendable {
    let atomic = Atomic(false)
}

private final class Guarded: @unchecked Sendable {
    private let mutex = Mutex(0)

    var value: Int {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}

/// A lock of the C library.
private final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func whileLocked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
