import Foundation
import PromiseOperators
import RaceLab
import RaceLabTesting
import Testing

@Suite("Chaining")
struct ChainingTests {
    // MARK: observe

    @Test("an observer receives either outcome, once, early or late")
    func observers() {
        let seen = Scenario.Log<String>()
        let (promise, resolver) = AWPromise<Int>.pending()
        promise.observe(on: here) { seen.append("early \(String(describing: try? $0.get()))") }
        resolver.fulfill(7)
        promise.observe(on: here) { seen.append("late \(String(describing: try? $0.get()))") }
        AWPromise<Int>.rejected(Trouble.here).observe(on: here) { outcome in
            if case .failure(let error) = outcome { seen.append("\(error)") }
        }
        #expect(seen.entries == ["early Optional(7)", "late Optional(7)", "here"])
    }

    @Test("a withdrawn observer is not called, and what it captured is freed")
    func withdrawal() {
        final class Witness: Sendable {}
        let calls = Scenario.Log<String>()
        let (promise, resolver) = AWPromise<Int>.pending()
        promise.observe(on: here) { _ in calls.append("first") }
        weak var captured: Witness?
        var second: Observation?
        do {
            let witness = Witness()
            captured = witness
            second = promise.observe(on: here) { _ in
                withExtendedLifetime(witness) { calls.append("second") }
            }
        }
        promise.observe(on: here) { _ in calls.append("third") }
        #expect(captured != nil)
        second?.withdraw()
        second?.withdraw()
        #expect(captured == nil)
        resolver.fulfill(1)
        second?.withdraw()
        #expect(calls.entries == ["first", "third"])
    }

    @Test("the remaining observers are called in order, whichever are withdrawn", arguments: 1...7)
    func orderAfterWithdrawals(divisor: Int) {
        let calls = Scenario.Log<Int>()
        let (promise, resolver) = AWPromise<Int>.pending()
        let observations = (0..<100).map { number in
            promise.observe(on: here) { _ in calls.append(number) }
        }
        for number in 0..<100 where !number.isMultiple(of: divisor) {
            observations[number].withdraw()
        }
        promise.observe(on: here) { _ in calls.append(100) }
        resolver.fulfill(1)
        #expect(calls.entries == (0..<100).filter { $0.isMultiple(of: divisor) } + [100])
    }

    @Test(
        "registering and withdrawing in every order of five steps: the others are called in order"
    )
    func everyOrderOfWithdrawals() {
        /// The steps so far: `nil` registers another observer, a number withdraws that one.
        func tryAll(after steps: [Int?]) {
            let calls = Scenario.Log<Int>()
            let (promise, resolver) = AWPromise<Int>.pending()
            var observations: [Observation] = []
            var stayed: [Int] = []
            for step in steps {
                if let step {
                    observations[step].withdraw()
                    stayed.removeAll { $0 == step }
                } else {
                    let number = observations.count
                    observations.append(promise.observe(on: here) { _ in calls.append(number) })
                    stayed.append(number)
                }
            }
            resolver.fulfill(1)
            #expect(calls.entries == stayed, "after \(steps)")
            guard steps.count < 5 else { return }
            tryAll(after: steps + [nil])
            for number in observations.indices { tryAll(after: steps + [number]) }
        }
        tryAll(after: [])
    }

    @Test(
        "withdraw ∥ settle: the function runs once or not at all; others always", .needsTheLab)
    func withdrawWhileSettling() {
        let exploration = expectSurvival { scenario in
            let calls = Scenario.Log<String>()
            let (promise, resolver) = AWPromise<Int>.pending()
            let observation = promise.observe(on: here) { _ in calls.append("ours") }
            promise.observe(on: here) { _ in calls.append("other") }
            scenario.thread("settling") { resolver.fulfill(1) }
            scenario.thread("withdrawing") { observation.withdraw() }
            scenario.check {
                try Scenario.require(
                    [["ours", "other"], ["other"]].contains(calls.entries),
                    "called: \(calls.entries)")
            }
            scenario.outcome { "\(calls.entries.count)" }
        }
        #expect(Set(exploration.outcomes.keys) == ["1", "2"])
    }

    // MARK: continueWith

    @Test("continueWith receives values and errors, and is followed by its function's result")
    func continuation() {
        let value = AWPromise.fulfilled(1).continueWith(on: here) { outcome in
            AWPromise.fulfilled("\(outcome)")
        }
        #expect(value.settledValue == "success(1)")
        let error = AWPromise<Int>.rejected(Trouble.here).continueWith(on: here) { outcome in
            AWPromise.fulfilled((try? outcome.get()) == nil)
        }
        #expect(error.settledValue == true)
        let thrown = AWPromise.fulfilled(1).continueWith(on: here) { _ -> AWPromise<Int> in
            throw Trouble.there
        }
        #expect(thrown.trouble == .there)
    }

    // MARK: validate

    @Test("validate passes a good value, rejects a bad one, and may throw its own error")
    func validation() {
        let promise = AWPromise.fulfilled(7)
        #expect(promise.validate(on: here) { $0 > 5 }.settledValue == 7)
        #expect(words(promise.validate(on: here) { $0 > 9 }.failure) == "invalidValue")
        #expect(promise.validate(on: here) { _ in throw Trouble.here }.trouble == .here)
    }

    // MARK: errors

    @Test("catch receives the error, and the promise stays rejected")
    func catching() {
        let seen = Scenario.Log<String>()
        let caught = AWPromise<Int>.rejected(Trouble.here).catch(on: here) { seen.append("\($0)") }
        #expect(caught.trouble == .here)
        let other = AWPromise<Int>.rejected(Trouble.here).catch(on: here) { _ in
            throw Trouble.there
        }
        #expect(other.trouble == .there)
        #expect(AWPromise.fulfilled(7).catch(on: here) { _ in seen.append("no") }.settledValue == 7)
        #expect(seen.entries == ["here"])
    }

    @Test("recover replaces an error by a value, a promise or another error")
    func recovering() {
        let promise = AWPromise<Int>.rejected(Trouble.here)
        #expect(promise.recover(on: here) { _ in 7 }.settledValue == 7)
        #expect(promise.recover(on: here) { _ in AWPromise.fulfilled(8) }.settledValue == 8)
        #expect(promise.recover(on: here) { _ -> Int in throw Trouble.there }.trouble == .there)
        #expect(AWPromise.fulfilled(9).recover(on: here) { _ in 7 }.settledValue == 9)
    }

    // MARK: always

    @Test("always runs once for either outcome, and changes nothing")
    func always() {
        let seen = Scenario.Log<String>()
        let value = AWPromise.fulfilled(7)
        let error = AWPromise<Int>.rejected(Trouble.here)
        #expect(value.always(on: here) { seen.append("value") }.settledValue == 7)
        #expect(error.always(on: here) { seen.append("error") }.trouble == .here)
        #expect(seen.entries == ["value", "error"])
    }

    @Test("always with a promise passes the outcome on when its promise is fulfilled")
    func alwaysWaiting() {
        let (cleaned, cleaner) = AWPromise<String>.pending()
        let value = AWPromise.fulfilled(7).always(on: here, waitingFor: { cleaned })
        let error = AWPromise<Int>.rejected(Trouble.here).always(
            on: here, waitingFor: { cleaned })
        #expect(value.result == nil)
        #expect(error.result == nil)
        cleaner.fulfill("tidy")
        #expect(value.settledValue == 7)
        #expect(error.trouble == .here)
    }

    @Test("always with a promise is rejected if cleaning up fails")
    func alwaysFailing() {
        let value = AWPromise.fulfilled(7).always(
            on: here, waitingFor: { AWPromise<Int>.rejected(Trouble.there) })
        #expect(value.trouble == .there)
        let thrown = AWPromise.fulfilled(7).always(on: here) { () -> AWPromise<Int> in
            throw Trouble.elsewhere
        }
        #expect(thrown.trouble == .elsewhere)
    }

    // MARK: All operators

    // Long chains run in child processes, because a stack overflow would end this process.

    private static func settle(_ links: Int, _ outcome: Result<Int, any Error>, first: Bool) {
        let (promise, resolver) = AWPromise<Int>.pending()
        if first { resolver.settle(outcome) }
        var last = promise
        for _ in 0..<(links / 5) {
            last = last.then(on: here) { $0 }
                .recover(on: here) { error -> Int in throw error }
                .always(on: here) {}
                .catch(on: here) { _ in }
                .validate(on: here) { _ in true }
        }
        resolver.settle(outcome)
        if last.result?.isSuccess != outcome.isSuccess { exit(EXIT_FAILURE) }
    }

    @Test("a chain of 1,000,000 operators settles", .waitsForProcesses)
    func millionLinks() async {
        await #expect(processExitsWith: .success) {
            ChainingTests.settle(1_000_000, .success(1), first: false)
        }
    }

    @Test(
        "a chain of 100,000 operators settles, with a value or an error, early or late",
        .waitsForProcesses)
    func manyLinks() async {
        await #expect(processExitsWith: .success) {
            ChainingTests.settle(100_000, .failure(Trouble.here), first: false)
            ChainingTests.settle(100_000, .failure(Trouble.here), first: true)
            ChainingTests.settle(100_000, .success(1), first: true)
        }
    }

    @Test("a pending chain of 100,000 operators is freed", .waitsForProcesses)
    func manyLinksFreed() async {
        await #expect(processExitsWith: .success) {
            weak var first: AWPromise<Int>?
            do {
                let (promise, resolver) = AWPromise<Int>.pending()
                first = promise
                var last = promise
                for _ in 0..<25_000 {
                    last = last.then(on: here) { AWPromise.fulfilled($0) }
                        .recover(on: here) { error -> Int in throw error }
                        .always(on: here, waitingFor: { AWPromise.fulfilled(()) })
                        .catch(on: here) { _ in }
                }
                withExtendedLifetime(resolver) {}
            }
            if first != nil { exit(EXIT_FAILURE) }
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
