import PromiseOperators
import RaceLab
import RaceLabTesting
import Testing

/// Cancellation concurrently with another operation.
enum CancellationScenarios {
    /// One thread frees a linked source while another thread cancels its parent.
    static func dropOrCancel(_ scenario: Scenario) {
        let calls = Scenario.Log<String>()
        let parent = CancellationSource()
        var linked: CancellationSource? = CancellationSource(linkedTo: parent.token)
        linked!.token.observe(on: here) { calls.append("cancelled") }
        scenario.thread("cancelling") { parent.cancel() }
        scenario.thread("dropping") { linked = nil }
        scenario.check {
            try Scenario.require(calls.entries.count <= 1, "called: \(calls.entries)")
        }
        scenario.outcome { calls.entries.first ?? "gone" }
    }
}

@Suite("Cancellation")
struct CancellationTests {
    @Test("a token stays cancelled, and calls each observer once")
    func token() {
        let calls = Scenario.Log<String>()
        let source = CancellationSource()
        let token = source.token
        token.observe(on: here) { calls.append("early") }
        #expect(!token.isCancelled)
        #expect(throws: Never.self) { try token.throwIfCancelled() }
        source.cancel()
        source.cancel()
        token.observe(on: here) { calls.append("late") }
        #expect(token.isCancelled)
        #expect(throws: CancellationError.self) { try token.throwIfCancelled() }
        #expect(calls.entries == ["early", "late"])
    }

    @Test("a withdrawn observer, and one whose token is freed, is freed without a call")
    func observersFreed() {
        final class Witness: Sendable {}
        let calls = Scenario.Log<String>()
        var source: CancellationSource? = CancellationSource()
        var token = source?.token
        weak var first: Witness?
        weak var second: Witness?
        do {
            let (one, two) = (Witness(), Witness())
            (first, second) = (one, two)
            token?.observe(on: here) {
                withExtendedLifetime(one) { calls.append("first") }
            }.withdraw()
            token?.observe(on: here) {
                withExtendedLifetime(two) { calls.append("second") }
            }
        }
        #expect(first == nil)
        #expect(second != nil)
        source = nil
        #expect(second != nil)
        token = nil
        #expect(second == nil)
        #expect(calls.entries.isEmpty)
    }

    @Test("a linked source is cancelled by any parent, early or late, and cancels none")
    func linked() {
        let (first, second) = (CancellationSource(), CancellationSource())
        let linked = CancellationSource(linkedTo: first.token, second.token)
        let own = CancellationSource(linkedTo: first.token)
        own.cancel()
        #expect(own.token.isCancelled)
        #expect(!first.token.isCancelled)
        #expect(!linked.token.isCancelled)
        second.cancel()
        #expect(linked.token.isCancelled)
        #expect(CancellationSource(linkedTo: first.token, second.token).token.isCancelled)
    }

    @Test("a linked token keeps its parents alive: links in between pass a cancellation on")
    func linkedInARow() {
        let first = CancellationSource()
        var last = first
        for _ in 0..<3 { last = CancellationSource(linkedTo: last.token) }
        #expect(!last.token.isCancelled)
        first.cancel()
        #expect(last.token.isCancelled)
    }

    @Test("30,000 links in a row are cancelled, and freed, without deepening the stack")
    func manyLinks() {
        func row(from first: CancellationSource) -> CancellationSource {
            (0..<30_000).reduce(first) { last, _ in CancellationSource(linkedTo: last.token) }
        }
        let first = CancellationSource()
        let last = row(from: first)
        first.cancel()
        #expect(last.token.isCancelled)
        weak var lost: CancellationToken?
        do {
            let first = CancellationSource()
            lost = first.token
            #expect(!row(from: first).token.isCancelled)
        }
        #expect(lost == nil)
    }

    @Test("a cancelled promise is rejected with an error, and its work continues")
    func cancelled() {
        let seen = Scenario.Log<String>()
        let source = CancellationSource()
        let (promise, resolver) = AWPromise<Int>.pending()
        let cancelled = promise.cancelled(by: source.token)
        cancelled.catch(on: here) { seen.append("\($0)") }
        source.cancel()
        #expect(cancelled.failure is CancellationError)
        #expect(seen.entries == ["CancellationError()"])
        resolver.fulfill(1)
        #expect(promise.settledValue == 1)
        #expect(cancelled.failure is CancellationError)
    }

    @Test("a linked token cancels the promise, even if its source was freed")
    func linkedAndGone() {
        let parent = CancellationSource()
        let (promise, resolver) = AWPromise<Int>.pending()
        let cancelled = promise.cancelled(
            by: CancellationSource(linkedTo: parent.token).token)
        parent.cancel()
        #expect(cancelled.failure is CancellationError)
        withExtendedLifetime(resolver) {}
    }

    @Test("a promise that settles first is not cancelled; one made from a cancelled token is")
    func notCancelled() {
        let source = CancellationSource()
        let value = AWPromise.fulfilled(1).cancelled(by: source.token)
        let error = AWPromise<Int>.rejected(Trouble.here).cancelled(by: source.token)
        source.cancel()
        #expect(value.settledValue == 1)
        #expect(error.trouble == .here)
        #expect(
            AWPromise.fulfilled(1).cancelled(by: source.token).failure is CancellationError)
    }

    @Test("freeing a source does not reject a promise")
    func sourceGone() {
        let (promise, resolver) = AWPromise<Int>.pending()
        let guarded = promise.cancelled(by: CancellationSource().token)
        #expect(guarded.result == nil)
        resolver.fulfill(1)
        #expect(guarded.settledValue == 1)
    }

    @Test("a cancelled chain leaves no outer promise pending")
    func outerPromise() {
        let source = CancellationSource()
        let (inner, resolver) = AWPromise<Int>.pending()
        let outer = AWPromise.fulfilled(1)
            .then(on: here) { _ in inner.cancelled(by: source.token) }
            .then(on: here) { $0 + 1 }
        let all = AWPromise.all([outer, .fulfilled(1)])
        #expect(outer.result == nil)
        source.cancel()
        #expect(outer.failure is CancellationError)
        #expect(all.failure is CancellationError)
        withExtendedLifetime(resolver) {}
    }

    @Test("a settled promise leaves no observer on the token")
    func nothingLeftBehind() {
        final class Witness: Sendable {}
        let source = CancellationSource()
        weak var value: Witness?
        do {
            let (promise, resolver) = AWPromise<Witness>.pending()
            let guarded = promise.cancelled(by: source.token)
            let witness = Witness()
            value = witness
            resolver.fulfill(witness)
            #expect(guarded.result != nil)
        }
        #expect(value == nil)
        withExtendedLifetime(source) {}
    }

    @Test("work checks the token, and stops half-way")
    func cooperation() {
        let steps = Scenario.Log<Int>()
        let source = CancellationSource()
        let token = source.token
        let stopped = AWPromise<Int>.attempt {
            for step in 0..<10 {
                try token.throwIfCancelled()
                steps.append(step)
                if step == 3 { source.cancel() }
            }
            return 10
        }
        #expect(stopped.failure is CancellationError)
        #expect(steps.entries == [0, 1, 2, 3])
    }

    @Test("drop a linked source ∥ cancel its parent", .needsTheLab)
    func dropOrCancel() {
        let exploration = expectSurvival(CancellationScenarios.dropOrCancel)
        #expect(Set(exploration.outcomes.keys) == ["cancelled", "gone"])
    }
}
