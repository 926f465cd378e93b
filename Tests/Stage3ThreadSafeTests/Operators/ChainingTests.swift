import RaceLab
import Stage3ThreadSafe
import StageTesting
import Testing

@Suite("Chaining")
struct ChainingTests {
    // MARK: observe

    @Test("an observer sees either outcome, once, before or after it is known")
    func observers() {
        let seen = Log<String>()
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
        let calls = Log<String>()
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

    @Test("those who stay are called in order, whoever withdraws", arguments: 1...7)
    func orderAfterWithdrawals(divisor: Int) {
        let calls = Log<Int>()
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
        "registering and withdrawing in every order of five steps: those who stay are called in order"
    )
    func everyOrderOfWithdrawals() {
        /// What has been done so far: `nil` registers one more, a number withdraws that one.
        func tryAll(after steps: [Int?]) {
            let calls = Log<Int>()
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
        let report = expectSurvival { scenario in
            let calls = Log<String>()
            let (promise, resolver) = AWPromise<Int>.pending()
            let observation = promise.observe(on: here) { _ in calls.append("ours") }
            promise.observe(on: here) { _ in calls.append("other") }
            scenario.thread("settling") { resolver.fulfill(1) }
            scenario.thread("withdrawing") { observation.withdraw() }
            scenario.check {
                try require(
                    [["ours", "other"], ["other"]].contains(calls.entries),
                    "called: \(calls.entries)")
            }
            scenario.outcome { "\(calls.entries.count)" }
        }
        #expect(Set(report.outcomes.keys) == ["1", "2"])
    }

    // MARK: continueWith

    @Test("continueWith sees values and errors, and is followed by what it returns")
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

    // MARK: values

    @Test("done gives nothing to the next, get and tap give back what they got")
    func doneGetTap() {
        let seen = Log<String>()
        let promise = AWPromise.fulfilled(7)
        let done = promise.done(on: here) { seen.append("done \($0)") }
        let got = promise.get(on: here) { seen.append("get \($0)") }
        let tapped = promise.tap(on: here) { seen.append("tap \($0)") }
        #expect(seen.entries == ["done 7", "get 7", "tap success(7)"])
        #expect(done.settledValue != nil)
        #expect(got.settledValue == 7)
        #expect(tapped.settledValue == 7)
    }

    @Test("done and get reject with what they throw; tap sees errors, they do not")
    func doneGetTapErrors() {
        let seen = Log<String>()
        let promise = AWPromise.fulfilled(7)
        #expect(promise.done(on: here) { _ in throw Trouble.here }.trouble == .here)
        #expect(promise.get(on: here) { _ in throw Trouble.here }.trouble == .here)
        let rejected = AWPromise<Int>.rejected(Trouble.there)
        #expect(rejected.done(on: here) { _ in seen.append("done") }.trouble == .there)
        #expect(rejected.get(on: here) { _ in seen.append("get") }.trouble == .there)
        #expect(rejected.tap(on: here) { _ in seen.append("tap") }.trouble == .there)
        #expect(seen.entries == ["tap"])
    }

    @Test("validate lets a good value through, rejects a bad one, and may throw its own error")
    func validation() {
        let promise = AWPromise.fulfilled(7)
        #expect(promise.validate(on: here) { $0 > 5 }.settledValue == 7)
        #expect(words(promise.validate(on: here) { $0 > 9 }.failure) == "invalidValue")
        #expect(promise.validate(on: here) { _ in throw Trouble.here }.trouble == .here)
    }

    @Test("compactMap unwraps, and rejects nil")
    func compactMap() {
        #expect(AWPromise.fulfilled("7").compactMap(on: here) { Int($0) }.settledValue == 7)
        let none = AWPromise.fulfilled("x").compactMap(on: here) { Int($0) }
        #expect(words(none.failure) == "noValue")
    }

    @Test("asVoid keeps the end, and drops the value")
    func asVoid() {
        #expect(AWPromise.fulfilled(7).asVoid().settledValue != nil)
        #expect(AWPromise<Int>.rejected(Trouble.here).asVoid().trouble == .here)
    }

    // MARK: errors

    @Test("catch sees the error, and the promise stays rejected")
    func catching() {
        let seen = Log<String>()
        let caught = AWPromise<Int>.rejected(Trouble.here).catch(on: here) { seen.append("\($0)") }
        #expect(caught.trouble == .here)
        let other = AWPromise<Int>.rejected(Trouble.here).catch(on: here) { _ in
            throw Trouble.there
        }
        #expect(other.trouble == .there)
        #expect(AWPromise.fulfilled(7).catch(on: here) { _ in seen.append("no") }.settledValue == 7)
        #expect(seen.entries == ["here"])
    }

    @Test("catch of a type sees errors of that type only")
    func catchingSome() {
        let seen = Log<String>()
        let cancelled = AWPromise<Int>.rejected(CancellationError())
        let failed = AWPromise<Int>.rejected(Trouble.here)
        for promise in [cancelled, failed] {
            promise.catch(CancellationError.self, on: here) { _ in seen.append("cancelled") }
            promise.catch(Trouble.self, on: here) { seen.append("\($0)") }
        }
        #expect(seen.entries == ["cancelled", "here"])
    }

    @Test("recover puts a value, a promise or another error in the place of an error")
    func recovering() {
        let promise = AWPromise<Int>.rejected(Trouble.here)
        #expect(promise.recover(on: here) { _ in 7 }.settledValue == 7)
        #expect(promise.recover(on: here) { _ in AWPromise.fulfilled(8) }.settledValue == 8)
        #expect(promise.recover(on: here) { _ -> Int in throw Trouble.there }.trouble == .there)
        #expect(AWPromise.fulfilled(9).recover(on: here) { _ in 7 }.settledValue == 9)
    }

    @Test("recover from a type leaves other errors alone")
    func recoveringFromSome() {
        let promise = AWPromise<Int>.rejected(Trouble.here)
        #expect(promise.recover(from: Trouble.self, on: here) { _ in 7 }.settledValue == 7)
        let eight = promise.recover(from: Trouble.self, on: here) { _ in AWPromise.fulfilled(8) }
        #expect(eight.settledValue == 8)
        let passed = promise.recover(from: CancellationError.self, on: here) { _ in 7 }
        #expect(passed.trouble == .here)
    }

    // MARK: always

    @Test("always and finally run once at either end, and change nothing")
    func always() {
        let seen = Log<String>()
        let value = AWPromise.fulfilled(7)
        let error = AWPromise<Int>.rejected(Trouble.here)
        #expect(value.always(on: here) { seen.append("value") }.settledValue == 7)
        #expect(error.always(on: here) { seen.append("error") }.trouble == .here)
        value.finally(on: here) { seen.append("value, finally") }
        error.finally(on: here) { seen.append("error, finally") }
        #expect(seen.entries == ["value", "error", "value, finally", "error, finally"])
    }

    @Test("always that waits passes the outcome on when its promise is fulfilled")
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

    @Test("always that waits is rejected if cleaning up fails")
    func alwaysFailing() {
        let value = AWPromise.fulfilled(7).always(
            on: here, waitingFor: { AWPromise<Int>.rejected(Trouble.there) })
        #expect(value.trouble == .there)
        let thrown = AWPromise.fulfilled(7).always(on: here) { () -> AWPromise<Int> in
            throw Trouble.elsewhere
        }
        #expect(thrown.trouble == .elsewhere)
    }

    // MARK: All of them

    @Test("an error, and a value, passes 100,000 operators without deepening the stack")
    func manyLinks() {
        for outcome in [Result<Int, any Error>.success(1), .failure(Trouble.here)] {
            let (first, resolver) = AWPromise<Int>.pending()
            var last = first
            for _ in 0..<12_500 {
                last = last.get(on: here) { _ in }
                    .tap(on: here) { _ in }
                    .validate(on: here) { _ in true }
                    .catch(on: here) { _ in }
                    .recover(from: CancellationError.self, on: here) { _ in 0 }
                    .always(on: here) {}
                    .always(on: here, waitingFor: { AWPromise.fulfilled(()) })
                    .compactMap(on: here) { $0 }
            }
            resolver.settle(outcome)
            #expect(last.result?.isSuccess == outcome.isSuccess)
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
