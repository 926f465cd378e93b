import Dispatch
import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization
import Testing

@Suite("Aggregates")
struct TogetherTests {
    // MARK: all

    @Test("all: values in the order of the promises, not of their settling")
    func allInOrder() {
        let pairs = (0..<3).map { _ in AWPromise<Int>.pending() }
        let all = AWPromise.all(pairs.map(\.promise))
        for index in [2, 0, 1] {
            #expect(all.result == nil)
            pairs[index].resolver.fulfill(index)
        }
        #expect(all.settledValue == [0, 1, 2])
    }

    @Test("all: the first rejection wins, without waiting for the others")
    func allRejected() {
        let pairs = (0..<3).map { _ in AWPromise<Int>.pending() }
        let all = AWPromise.all(pairs.map(\.promise))
        pairs[1].resolver.reject(Trouble.here)
        #expect(all.trouble == .here)
        pairs[0].resolver.reject(Trouble.there)
        pairs[2].resolver.fulfill(2)
        #expect(all.trouble == .here)
    }

    @Test("all: an empty list, one promise twice, settled promises")
    func allCorners() {
        #expect(AWPromise.all([AWPromise<Int>]()).settledValue == [])
        let (promise, resolver) = AWPromise<Int>.pending()
        let twice = AWPromise.all([promise, promise])
        resolver.fulfill(7)
        #expect(twice.settledValue == [7, 7])
        #expect(AWPromise.all([promise, .fulfilled(8)]).settledValue == [7, 8])
        #expect(AWPromise.all([promise, .rejected(Trouble.here)]).trouble == .here)
    }

    @Test("all: a tuple of different types")
    func tuple() {
        let (number, resolver) = AWPromise<Int>.pending()
        let together = AWPromise.all(number, AWPromise.fulfilled("seven"), .fulfilled(true))
            .then(on: here) { number, word, truth in "\(number) \(word) \(truth)" }
        #expect(together.result == nil)
        resolver.fulfill(7)
        #expect(together.settledValue == "7 seven true")
        let rejected = AWPromise.all(number, AWPromise<String>.rejected(Trouble.here))
        #expect(rejected.failure as? Trouble == .here)
        let nothing: AWPromise<Void> = .all()
        #expect(nothing.settledValue != nil)
    }

    @Test("allSettled: every outcome in order; an empty list gives an empty result")
    func allSettled() {
        let (promise, resolver) = AWPromise<Int>.pending()
        let settled = AWPromise.allSettled([promise, .rejected(Trouble.here), .fulfilled(3)])
        #expect(settled.result == nil)
        resolver.fulfill(1)
        #expect(settled.settledValue?.map { try? $0.get() } == [1, nil, 3])
        #expect(AWPromise.allSettled([AWPromise<Int>]()).settledValue?.isEmpty == true)
    }

    @Test("all of 10,000, settled from last to first")
    func allOfMany() {
        let pairs = (0..<10_000).map { _ in AWPromise<Int>.pending() }
        let all = AWPromise.all(pairs.map(\.promise))
        for index in pairs.indices.reversed() { pairs[index].resolver.fulfill(index) }
        #expect(all.settledValue == Array(0..<10_000))
    }

    // MARK: race, any

    @Test("race: the first to settle, with either outcome; of settled ones the first in the array")
    func race() {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let race = AWPromise.race([first, second])
        secondResolver.reject(Trouble.here)
        firstResolver.fulfill(1)
        #expect(race.trouble == .here)
        #expect(AWPromise.race([.fulfilled(1), .fulfilled(2)]).settledValue == 1)
    }

    @Test("race and any of an empty list settle")
    func nothing() {
        #expect(words(AWPromise<Int>.race([]).failure) == "noPromises")
        #expect(words(AWPromise<Int>.any([]).failure) == "noPromises")
    }

    @Test("race: 100,000 races against one promise leave nothing behind on it")
    func longLived() {
        /// The value of a race: alive as long as anything references the race.
        final class Witness: Sendable {
            let alive: Number
            init(_ alive: Number) {
                self.alive = alive
                alive.change { $0 += 1 }
            }
            deinit { alive.change { $0 -= 1 } }
        }
        let alive = Number(0)
        let (longLived, resolver) = AWPromise<Witness>.pending()
        for _ in 0..<100_000 {
            let (runner, runnerResolver) = AWPromise<Witness>.pending()
            let race = AWPromise.race([longLived, runner])
            runnerResolver.fulfill(Witness(alive))
            if race.settledValue == nil { Issue.record("the race is not decided") }
        }
        #expect(alive.value == 0)
        withExtendedLifetime(resolver) {}
    }

    @Test("any: the first value; all errors in order if there is no value")
    func any() {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let any = AWPromise.any([first, second])
        secondResolver.reject(Trouble.there)
        #expect(any.result == nil)
        firstResolver.fulfill(1)
        #expect(any.settledValue == 1)
        let none = AWPromise<Int>.any([.rejected(Trouble.here), second])
        guard case OperatorError.allRejected(let errors)? = none.failure else {
            Issue.record("\(words(none.failure))")
            return
        }
        #expect(errors as? [Trouble] == [.here, .there])
    }

    // MARK: reduce

    @Test("reduce: in order, with values or promises, with an empty list, and with errors")
    func reduce() {
        let pairs = (0..<3).map { _ in AWPromise<String>.pending() }
        let words = AWPromise.reduce("", pairs.map(\.promise), on: here) { $0 + $1 }
        for index in [2, 1, 0] { pairs[index].resolver.fulfill("\(index)") }
        #expect(words.settledValue == "012")
        let promises = AWPromise.reduce(0, [AWPromise.fulfilled(1), .fulfilled(2)], on: here) {
            AWPromise.fulfilled($0 * 10 + $1)
        }
        #expect(promises.settledValue == 12)
        #expect(AWPromise.reduce(7, [AWPromise<Int>](), on: here) { $0 + $1 }.settledValue == 7)
        let parts = [AWPromise.fulfilled(1), .rejected(Trouble.here), .fulfilled(2)]
        #expect(AWPromise.reduce(0, parts, on: here) { $0 + $1 }.trouble == .here)
        let thrown = AWPromise.reduce(0, [AWPromise.fulfilled(1)], on: here) { _, _ -> Int in
            throw Trouble.there
        }
        #expect(thrown.trouble == .there)
    }

    @Test("reduce: 100,000 promises do not deepen the stack")
    func longReduce() {
        let (first, resolver) = AWPromise<Int>.pending()
        let promises = [first] + (1..<100_000).map { AWPromise.fulfilled($0) }
        let sum = AWPromise.reduce(0, promises, on: here) { $0 + $1 }
        resolver.fulfill(0)
        #expect(sum.settledValue == 100_000 * 99_999 / 2)
    }

    // MARK: all with a limit

    @Test("limit: never more than the limit in flight, values in order", arguments: [1, 2, 3, 10])
    func limit(limit: Int) {
        let pairs = (0..<10).map { _ in AWPromise<Int>.pending() }
        let started = Scenario.Log<Int>()
        let all = AWPromise.all(0..<10, limit: limit, on: here) { index in
            started.append(index)
            return pairs[index].promise
        }
        for done in 0..<10 {
            #expect(started.entries == Array(0..<min(10, done + limit)))
            #expect(all.result == nil)
            pairs[done].resolver.fulfill(done * done)
        }
        #expect(all.settledValue == (0..<10).map { $0 * $0 })
    }

    @Test("limit: an empty input gives an empty result")
    func limitOfNothing() {
        let none = AWPromise.all([Int](), limit: 1, on: here) { AWPromise.fulfilled($0) }
        #expect(none.settledValue == [])
    }

    @Test("limit: after a rejection nothing more is started, and results in flight are ignored")
    func limitedRejection() {
        let pairs = (0..<10).map { _ in AWPromise<Int>.pending() }
        let started = Scenario.Log<Int>()
        let all = AWPromise.all(0..<10, limit: 2, on: here) { index in
            started.append(index)
            return pairs[index].promise
        }
        pairs[1].resolver.reject(Trouble.here)
        pairs[0].resolver.reject(Trouble.there)
        #expect(all.trouble == .here)
        #expect(started.entries == [0, 1])
    }

    @Test("limit: after a rejection no waiting input is started")
    func limitedOnAQueue() {
        struct Later: Dispatcher {
            let work: Scenario.Log<@Sendable () -> Void>
            func dispatch(_ function: @escaping @Sendable () -> Void) { work.append(function) }
        }
        let started = Scenario.Log<Int>()
        let work = Scenario.Log<@Sendable () -> Void>()
        let all = AWPromise.all(
            0..<10, limit: 4, on: Later(work: work)
        ) { index -> AWPromise<Int> in
            started.append(index)
            throw Trouble.here
        }
        #expect(work.entries.count == 4)
        for start in work.entries { start() }
        #expect(all.trouble == .here)
        #expect(started.entries == [0])
        #expect(work.entries.count == 4)
    }

    @Test("limit: an error that start throws counts as a rejection")
    func limitedThrow() {
        let all = AWPromise.all(0..<10, limit: 3, on: here) { index in
            if index == 5 { throw Trouble.here }
            return AWPromise.fulfilled(index)
        }
        #expect(all.trouble == .here)
    }

    @Test("limit: an endless source is read only as far as the limit allows")
    func endless() {
        let all = AWPromise.all(0..., limit: 4, on: here) { index in
            if index == 1_000 { throw Trouble.here }
            return AWPromise.fulfilled(index)
        }
        #expect(all.trouble == .here)
    }

    @Test("limit: 100,000 in sequence, already settled, do not deepen the stack")
    func manyInSequence() {
        let all = AWPromise.all(0..<100_000, limit: 1, on: here) { AWPromise.fulfilled($0) }
        #expect(all.settledValue?.count == 100_000)
    }

    @Test("limit: many at once, settled on many threads", arguments: [16, 1_000])
    func manyAtOnce(limit: Int) async throws {
        let values = try await onOwnThread {
            let inFlight = Number(0)
            let most = Number(0)
            let done = DispatchSemaphore(value: 0)
            let all = AWPromise.all(0..<2_000, limit: limit, on: here) { index in
                inFlight.change { $0 += 1 }
                let now = inFlight.value
                most.change { $0 = max($0, now) }
                return AWPromise.attempt(on: DispatchQueue.global()) {
                    inFlight.change { $0 -= 1 }
                    return index
                }
            }
            all.always(on: here) { done.signal() }
            done.wait()
            #expect(most.value <= limit)
            return all.settledValue
        }
        #expect(values == Array(0..<2_000))
    }
}
