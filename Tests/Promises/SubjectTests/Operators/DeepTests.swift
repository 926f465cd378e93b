import Foundation
import PromiseOperators
import RaceLabTesting
import Testing

/// Nested operators, many levels deep, and other limits.
@Suite("Nested operators")
struct DeepTests {
    @Test("20,000 nested retries settle without exhausting the stack", .waitsForProcesses)
    func retries() async {
        await #expect(processExitsWith: .success) {
            let (first, resolver) = AWPromise<Int>.pending()
            var last = first
            for _ in 0..<20_000 {
                let previous = last
                last = AWPromise.retry(attempts: 1, on: ImmediateDispatcher()) { _ in previous }
            }
            resolver.fulfill(1)
            guard last.result != nil else { exit(EXIT_FAILURE) }
        }
    }

    @Test("20,000 nested limited `all`s settle without exhausting the stack", .waitsForProcesses)
    func limits() async {
        await #expect(processExitsWith: .success) {
            let (first, resolver) = AWPromise<Int>.pending()
            var last = first
            for _ in 0..<20_000 {
                let previous = last
                let all = AWPromise.all([0], limit: 1, on: ImmediateDispatcher()) { _ in previous }
                last = all.then(on: ImmediateDispatcher()) { $0[0] }
            }
            resolver.fulfill(1)
            guard last.result != nil else { exit(EXIT_FAILURE) }
        }
    }

    @Test("promises that follow a settled promise settle inside the call, at any depth")
    func atOnce() {
        let source = CancellationSource()
        source.cancel()
        let (first, resolver) = AWPromise<Int>.pending()
        let late = Number(0)
        var last = first
        for _ in 1...30 {
            last = AWPromise.race([last])
            last.observe(on: here) { [token = source.token] _ in
                let linked = CancellationSource(linkedTo: token)
                let all = AWPromise.all([AWPromise<Int>.fulfilled(1)])
                if !linked.token.isCancelled || all.result == nil { late.change { $0 += 1 } }
            }
        }
        resolver.fulfill(1)
        #expect(late.value == 0)
    }

    @Test("a linked token that nothing else keeps alive cancels a task")
    func linkedToken() async {
        let parent = CancellationSource()
        let promise = AWPromise<Int>.task(
            cancelledBy: CancellationSource(linkedTo: parent.token).token
        ) {
            // Returns when the task is cancelled.
            try await Task.sleep(for: .seconds(3_600))
            return 1
        }
        parent.cancel()
        await #expect(throws: CancellationError.self) { try await promise.value }
    }

    @Test("no delay is too long for the system's clock")
    func longest() {
        let border = Duration.seconds(Int64.max / 1_000_000_000)
        for delay in [border, border + .milliseconds(900), border + .seconds(1)] {
            SystemClock().schedule(after: delay) {}.cancel()
        }
    }
}
