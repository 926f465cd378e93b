import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// A value whose methods let other threads go on before they write.
private struct Inbox {
    var count = 0
    var letters: [Int] = []
    var weight = 0

    mutating func weigh(_ signal: () -> Void) {
        signal()
        weight = 5
    }

    mutating func announce(_ signal: () -> Void) {
        signal()
        count += 1
    }

    mutating func deliverFirst(_ letter: Int, _ signal: () -> Void) {
        letters.append(letter)
        count += 1
        signal()
    }

    mutating func countAtOnce() {
        twice { _ in count += 1 }
    }
}

/// Calls a closure that does not escape on two threads at the same time.
private func twice(_ work: (Int) -> Void) {
    withoutActuallyEscaping(work) { work in
        nonisolated(unsafe) let work = work
        DispatchQueue.concurrentPerform(iterations: 2) { work($0) }
    }
}

private func change(_ number: inout Int, after function: () -> Void) {
    function()
    number += 1
}

private func addOne(to number: inout Int, between function: () -> Void) {
    let before = number
    function()
    number = before + 1
}

/// A value that is never copied: the closure runs during an access.
private struct Desk: ~Copyable {
    var letters = 0

    borrowing func lend(_ function: () -> Void) { function() }
}

/// A value that is used where it is.
private struct Drawer: ~Copyable {
    var letters = 0
    var stamps = 0
    fileprivate let key = Mutex(0)

    borrowing func count(between function: () -> Void) -> String {
        let letters = letters
        function()
        return "\(letters) \(stamps)"
    }
}

/// Has a lock of its own.
private struct Vault: ~Copyable {
    let gold = Mutex(0)

    borrowing func addTwice() {
        gold.withLock { $0 += 1 }
        gold.withLock { $0 += 1 }
    }
}

private final class Office: @unchecked Sendable {
    var desk = Desk()
    var drawer = Drawer()
    var vault = Vault()
    var visitors = 0
    var inbox = Inbox()
    var waiting = 0
    let bell = Mutex(0)
}

nonisolated(unsafe) private var inboxOfAll = Inbox()
nonisolated(unsafe) private var visitorsOfAll = 0
private let rulesOfAll = [1]
nonisolated(unsafe) private var pairOfAll = (0, 0)

/// Begins an access to each holder, one within another.
private func changeAll(_ holders: ArraySlice<Holder<Int>>, after function: () -> Void) {
    guard let first = holders.first else { return function() }
    func changeThis(_ number: inout Int) {
        changeAll(holders.dropFirst(), after: function)
        number += 1
    }
    changeThis(&first.value)
}

/// Calls a function when it ends.
private final class Farewell {
    private let say: () -> Void
    init(_ say: @escaping () -> Void) { self.say = say }
    deinit { say() }
}

/// Variables on the stack of a thread, and accesses of others that a function has begun.
@Suite("Variables that only closures which do not escape capture", .needsTheLab)
struct CapturedVariableTests {
    @Test("are controlled on other threads", arguments: examples)
    func known(_ program: KnownProgram) { program.check() }

    private static let examples = [
        KnownProgram("a counter", .overlap) { scenario in
            scenario.thread("only") {
                var sum = 0
                twice { _ in sum += 1 }
            }
        },
        KnownProgram("a counter with a lock") { scenario in
            let (lock, result) = (NSLock(), Scenario.Log<Int>())
            scenario.thread("only") {
                var sum = 0
                twice { number in
                    lock.withLock { sum += number + 1 }
                }
                result.append(sum)
            }
            scenario.check { try Scenario.require(result.entries == [3], "\(result.entries)") }
        },
        KnownProgram("elements of an array, each by one thread", .overlap) { scenario in
            scenario.thread("only") {
                var numbers = [0, 0]
                twice { numbers[$0] = 1 }
            }
        },
        KnownProgram("elements in a buffer, each by one thread") { scenario in
            let result = Scenario.Log<[Int]>()
            scenario.thread("only") {
                var numbers = [0, 0]
                numbers.withUnsafeMutableBufferPointer { buffer in
                    let buffer = buffer
                    twice { buffer[$0] = $0 + 1 }
                }
                result.append(numbers)
            }
            scenario.check { try Scenario.require(result.entries == [[1, 2]], "lost") }
        },
        KnownProgram("a variable that is only read") { scenario in
            let result = Scenario.Log<Int>()
            scenario.thread("only") {
                var limit = 1
                limit += result.entries.count
                twice { result.append($0 + limit) }
            }
            scenario.check {
                try Scenario.require(Set(result.entries) == [1, 2], "\(result.entries)")
            }
        },
        KnownProgram("one thread writes, another one reads", .dataRace) { scenario in
            scenario.thread("only") {
                var (isDone, seen) = (false, false)
                twice { number in
                    if number == 0 { isDone = true } else { seen = isDone }
                }
                _ = seen
            }
        },
        KnownProgram("the method's own value", .overlap) { scenario in
            let inbox = Holder(Inbox())
            scenario.thread("only") { inbox.value.countAtOnce() }
        },
    ]

    @Test("and so are the variables of a task", arguments: examplesOfTasks)
    func knownOfTask(_ program: KnownProgram) { program.check() }

    /// The variables of an asynchronous function are on the heap.
    private static let examplesOfTasks = [
        KnownProgram("a counter with a lock") { scenario in
            let result = Scenario.Log<Int>()
            scenario.task("only") {
                var sum = 0
                let lock = NSLock()
                twice { number in
                    lock.withLock { sum += number + 1 }
                }
                await Task.yield()
                result.append(sum)
            }
            scenario.check { try Scenario.require(result.entries == [3], "\(result.entries)") }
        },
        KnownProgram("a variable that outlives a suspension", .overlap) { scenario in
            let result = Scenario.Log<Int>()
            scenario.task("only") {
                var numbers = [0]
                await Task.yield()
                twice { numbers.append($0) }
                await Task.yield()
                result.append(numbers.count)
            }
        },
        KnownProgram("a variable of an asynchronous function", .overlap) { scenario in
            @Sendable func count() async -> Int {
                var sum = 0
                twice { sum += $0 }
                return sum
            }
            let result = Scenario.Log<Int>()
            scenario.task("only") { result.append(await count()) }
        },
        KnownProgram("results of children and continuations") { scenario in
            let result = Scenario.Log<Int>()
            scenario.task("only") {
                async let first = result.entries.count
                let second = await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(returning: 2) }
                }
                result.append(await first + second)
            }
        },
    ]
}

@Suite("An access that lasts", .needsTheLab)
struct LastingAccessTests {
    @Test("counts when it writes, not only when it begins", arguments: examples)
    func known(_ program: KnownProgram) { program.check() }

    private static let examples = [
        KnownProgram("writes after an unlock", .overlap) { scenario in
            let (number, lock) = (Holder(0), NSLock())
            scenario.thread("A") {
                lock.lock()
                change(&number.value) { lock.unlock() }
            }
            scenario.thread("B") { lock.withLock { number.value += 1 } }
        },
        KnownProgram("writes before an unlock") { scenario in
            let (number, lock) = (Holder(0), NSLock())
            scenario.thread("A") {
                lock.lock()
                change(&number.value) {}
                lock.unlock()
            }
            scenario.thread("B") { lock.withLock { number.value += 1 } }
        },
        KnownProgram("writes a property after a signal", .dataRace) { scenario in
            let (inbox, done) = (Holder(Inbox()), DispatchSemaphore(value: 0))
            scenario.thread("A") { inbox.value.announce { done.signal() } }
            scenario.thread("B") {
                done.wait()
                _ = inbox.value.count
            }
        },
        KnownProgram("writes after it has started a thread", .dataRace) { scenario in
            let inbox = Holder(Inbox())
            scenario.thread("A") {
                inbox.value.announce { Thread.detachNewThread { _ = inbox.value.count } }
            }
        },
        // The new value is written before the old one is released.
        KnownProgram("an assignment, whose old value signals in its `deinit`") {
            scenario in
            let done = DispatchSemaphore(value: 0)
            let holder = Holder<Farewell?>(Farewell { done.signal() })
            scenario.thread("A") { holder.value = nil }
            scenario.thread("B") {
                done.wait()
                holder.value = Farewell {}
            }
        },
        KnownProgram("writes a property of a global after a signal", .dataRace) { scenario in
            let done = DispatchSemaphore(value: 0)
            inboxOfAll = Inbox()
            scenario.thread("A") {
                inboxOfAll.weigh { done.signal() }
            }
            scenario.thread("B") {
                done.wait()
                _ = inboxOfAll.weight
            }
        },
        KnownProgram("writes another global after a signal") { scenario in
            let done = DispatchSemaphore(value: 0)
            (inboxOfAll, visitorsOfAll) = (Inbox(), 0)
            scenario.thread("A") {
                inboxOfAll.deliverFirst(1) {
                    done.signal()
                    visitorsOfAll = 1
                }
            }
            scenario.thread("B") {
                done.wait()
                _ = inboxOfAll.letters
            }
        },
        KnownProgram("writes another property after a signal") { scenario in
            let (office, done) = (Office(), DispatchSemaphore(value: 0))
            scenario.thread("A") {
                office.inbox.deliverFirst(1) {
                    done.signal()
                    office.waiting = 1
                }
            }
            scenario.thread("B") {
                done.wait()
                _ = office.inbox.letters
            }
        },
        KnownProgram("writes another property while it lends one") { scenario in
            let (office, lock) = (Office(), NSLock())
            scenario.threads("A", "B") {
                office.desk.lend {
                    lock.withLock { office.visitors = 1 }
                }
            }
        },
        KnownProgram("a value with a lock, which is never copied") { scenario in
            let office = Office()
            scenario.threads("A", "B") { office.vault.addTwice() }
        },
        KnownProgram("uses a lock next to a property that it lends") { scenario in
            let office = Office()
            scenario.threads("A", "B") {
                office.desk.lend {
                    office.bell.withLock { $0 += 1 }
                    office.bell.withLock { $0 += 1 }
                }
            }
        },
        KnownProgram("reads a global constant after a signal") { scenario in
            let (done, result) = (DispatchSemaphore(value: 0), Scenario.Log<Int>())
            inboxOfAll = Inbox()
            scenario.thread("A") {
                inboxOfAll.deliverFirst(1) {
                    done.signal()
                    result.append(rulesOfAll.count)
                }
            }
            scenario.thread("B") {
                done.wait()
                inboxOfAll.letters = []
            }
        },
        KnownProgram("two threads within one access to a part of a global", .overlap) { scenario in
            pairOfAll = (0, 0)
            func setTwice(_ number: inout Int) { twice { number = $0 } }
            scenario.thread("A") { setTwice(&pairOfAll.1) }
        },
        KnownProgram("twenty accesses, the first of which writes last", .dataRace) { scenario in
            let holders = (0..<20).map { _ in Holder(0) }
            let done = DispatchSemaphore(value: 0)
            scenario.thread("A") { changeAll(holders[...]) { done.signal() } }
            scenario.thread("B") {
                done.wait()
                _ = holders[19].value
            }
        },
        // What happens within it, and at its end, has an order with the steps of others.
        KnownProgram(
            "overwrites what another thread has written", .overlap, outcomes: ["1", "2"],
            everyOrder: true
        ) { scenario in
            let number = Holder(0)
            scenario.threads("A", "B") {
                let steps = Holder(0)
                addOne(to: &number.value) { steps.value += 1 }
            }
            scenario.outcome { "\(number.value)" }
        },
        KnownProgram(
            "is read in its middle", .dataRace, outcomes: ["0", "1", "2"], everyOrder: true
        ) { scenario in
            let (number, seen) = (Holder(0), Holder(0))
            func addTwice(to number: inout Int) {
                let steps = Holder(0)
                number += 1
                steps.value += 1
                number += 1
                steps.value += 1
            }
            scenario.thread("A") { addTwice(to: &number.value) }
            scenario.thread("B") { seen.value = number.value }
            scenario.outcome { "\(seen.value)" }
        },
        KnownProgram(
            "reads a half of the old value and a half of the new one", .dataRace,
            outcomes: ["0 0", "0 1", "1 1"], everyOrder: true
        ) { scenario in
            let (office, seen) = (Office(), Holder(""))
            scenario.thread("A") {
                let steps = Holder(0)
                seen.value = office.drawer.count { steps.value += 1 }
            }
            scenario.thread("B") { office.drawer = Drawer(letters: 1, stamps: 1) }
            scenario.outcome { seen.value }
        },
    ]
}
