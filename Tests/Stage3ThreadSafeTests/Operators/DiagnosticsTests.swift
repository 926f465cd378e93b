import RaceLab
import Stage3ThreadSafe
import Testing

/// There is one handler for the whole process: these tests run one after the other, each in a
/// child process, where no other test makes remarks.
@Suite("Diagnostics", .serialized)
struct DiagnosticsTests {
    /// What the handler hears while `body` runs.
    private static func remarks(_ body: () -> Void) -> [String] {
        let heard = Log<String>()
        Diagnostics.handler = { remark in
            switch remark {
            case .settledAgain(let type): heard.append("again \(type)")
            case .unhandledRejection(let error): heard.append("unhandled \(error)")
            case .abandonedPromise(let type): heard.append("abandoned \(type)")
            }
        }
        body()
        Diagnostics.handler = nil
        return heard.entries
    }

    /// Ends the child process with success if what was heard is what was expected.
    private static func compare(_ heard: [String], _ expected: [String]) {
        if heard != expected { print("heard \(heard)\nexpected \(expected)") }
        precondition(heard == expected)
    }

    @Test("a second settle is heard of, unless it asks whether it is the first")
    func settledAgain() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                let (promise, resolver) = AWPromise<Int>.pending()
                resolver.fulfill(1)
                resolver.fulfill(2)
                resolver.reject(Trouble.here)
                resolver.settle(.success(3))
                _ = AWPromise<String> { resolve, reject in
                    resolve("once")
                    reject(Trouble.here)
                }
                precondition(promise.settledValue == 1)
            }
            DiagnosticsTests.compare(heard, ["again Int", "again Int", "again String"])
        }
    }

    @Test("an abandoned promise is heard of, and so is its rejection if nobody listens")
    func abandoned() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                _ = AWPromise<Int> { _, _ in }
                AWPromise<String>.pending().promise.error(on: here) { _ in }
            }
            DiagnosticsTests.compare(
                heard, ["abandoned Int", "unhandled abandoned", "abandoned String"])
        }
    }

    @Test("the end of a chain without an error handler is heard of, once, when it is freed")
    func unhandled() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                do {
                    let first = AWPromise<Int>.rejected(Trouble.here)
                    let last = first.then(on: here) { $0 + 1 }.then(on: here) { $0 + 1 }
                    precondition(last.trouble == .here)
                }
                _ = AWPromise<Int>.rejected(Trouble.there)
            }
            DiagnosticsTests.compare(heard, ["unhandled here", "unhandled there"])
        }
    }

    @Test("so is the end of a chain that an operator has made, early and late")
    func unhandledOperators() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                let clock = ManualClock()
                let source = CancellationSource()
                let (late, resolver) = AWPromise<Int>.pending()
                for promise in [late, .rejected(Trouble.here)] {
                    _ = AWPromise.all([promise])
                    _ = AWPromise.all(promise, .fulfilled("one"))
                    _ = AWPromise.race([promise])
                    _ = promise.timeout(after: .seconds(1), clock: clock)
                    _ = promise.cancelled(by: source.token)
                }
                resolver.reject(Trouble.there)
            }
            let each = { (trouble: Trouble) in
                Array(repeating: "unhandled \(trouble)", count: 5)
            }
            DiagnosticsTests.compare(heard, each(.here) + each(.there))
        }
    }

    @Test("a handled rejection is not heard of, however late it is handled")
    func handled() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                let (early, resolver) = AWPromise<Int>.pending()
                early.then(on: here) { $0 }.error(on: here) { _ in }
                resolver.reject(Trouble.here)
                let late = AWPromise<Int>.rejected(Trouble.here)
                late.error(on: here) { _ in }
                AWPromise<Int>.rejected(Trouble.here).catch(on: here) { _ in }
                AWPromise<Int>.rejected(Trouble.here).recover(on: here) { _ in 1 }
                AWPromise<Int>.rejected(Trouble.here).finally(on: here) {}
            }
            DiagnosticsTests.compare(heard, [])
        }
    }

    @Test("operators make no remarks of their own")
    func operators() async {
        await #expect(processExitsWith: .success) {
            let heard = DiagnosticsTests.remarks {
                let clock = ManualClock()
                let source = CancellationSource()
                let (slow, resolver) = AWPromise<Int>.pending()
                let promises: [AWPromise<Int>] = [
                    .race([slow, .fulfilled(1)]), .any([.rejected(Trouble.here), slow]),
                    slow.timeout(after: .seconds(1), clock: clock),
                    slow.cancelled(by: source.token),
                    AWPromise.all([slow, .rejected(Trouble.there)]).then(on: here) { $0[0] },
                    AWPromise.all(0..<3, limit: 2, on: here) { _ in slow }.then(on: here) { $0[0] },
                    .retry(attempts: 2, clock: clock, on: here) { _ in .rejected(Trouble.here) },
                ]
                for promise in promises { promise.error(on: here) { _ in } }
                clock.advance(by: .seconds(1))
                source.cancel()
                resolver.reject(Trouble.elsewhere)
                precondition(promises.allSatisfy { $0.result != nil })
            }
            DiagnosticsTests.compare(heard, [])
        }
    }

    @Test("without a handler nothing is kept, and what happened before is not heard of")
    func noHandler() async {
        await #expect(processExitsWith: .success) {
            let before = AWPromise<Int>.rejected(Trouble.here)
            precondition(Diagnostics.handler == nil)
            let heard = DiagnosticsTests.remarks {
                precondition(Diagnostics.handler != nil)
                withExtendedLifetime(before) {}
            }
            DiagnosticsTests.compare(heard, [])
        }
    }
}
