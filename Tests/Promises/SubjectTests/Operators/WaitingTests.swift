import Foundation
import PromiseOperators
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@Suite("Waiting")
struct WaitingTests {
    // MARK: wait

    @Test("wait returns the value or throws the error, early or late")
    func wait() async throws {
        let results = try await onOwnThread {
            let now = try AWPromise.fulfilled(1).wait()
            let later = try AWPromise.attempt(on: DispatchQueue.global()) { 2 }.wait()
            let limited = try AWPromise.attempt(on: DispatchQueue.global()) { 3 }
                .wait(atMost: .seconds(3600))
            return [now, later, limited]
        }
        #expect(results == [1, 2, 3])
        await #expect(throws: Trouble.here) {
            try await onOwnThread { try AWPromise<Int>.rejected(Trouble.here).wait() }
        }
    }

    @Test("wait with a limit times out, and the promise continues")
    func limit() async {
        let (promise, resolver) = AWPromise<Int>.pending()
        let message = await errorMessage { _ = try promise.wait(atMost: .zero) }
        #expect(message == "timedOut")
        resolver.fulfill(1)
        #expect(promise.settledValue == 1)
    }

    @Test(
        "wait refuses on a serial queue, an operation queue of one, or the main queue",
        .needsTheLab)
    func refusal() async {
        let queue = SerialQueue(label: "serial")
        let adopted = DispatchQueue(label: "adopted")
        _ = SerialQueue(adopted)
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        let places: [any Dispatcher] = [queue, adopted, operations, DispatchQueue.main]
        for place in places {
            let message = await errorMessage(on: place) {
                _ = try AWPromise.fulfilled(1).then(on: place) { $0 }.wait()
            }
            #expect(message == "wouldWaitForItself", "\(place)")
            let limited = await errorMessage(on: place) {
                _ = try AWPromise.fulfilled(1).then(on: place) { $0 }.wait(atMost: .seconds(1))
            }
            #expect(limited == "wouldWaitForItself", "\(place)")
            let settled = await errorMessage(on: place) {
                _ = try AWPromise.fulfilled(1).wait()
            }
            #expect(settled == "no error", "\(place)")
        }
    }

    @Test("wait does not refuse on a concurrent queue, or an operation queue with room")
    func noRefusal() async {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 2
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        for place in [operations, concurrent] as [any Dispatcher] {
            let message = await errorMessage(on: place) {
                _ = try AWPromise.fulfilled(1).then(on: place) { $0 }.wait()
            }
            #expect(message == "no error", "\(place)")
        }
    }

    private struct NewThread: Dispatcher {
        func dispatch(_ work: @escaping @Sendable () -> Void) { Thread.detachNewThread(work) }
    }

    private func errorMessage(
        on place: any Dispatcher = NewThread(),
        _ body: @escaping @Sendable () throws -> Void
    ) async -> String {
        await withCheckedContinuation { continuation in
            place.dispatch {
                do {
                    try body()
                    continuation.resume(returning: "no error")
                } catch {
                    continuation.resume(returning: words(error))
                }
            }
        }
    }

    // MARK: await

    @Test("a task receives the value or the error, early or late")
    func value() async throws {
        #expect(try await AWPromise.fulfilled(1).value == 1)
        await #expect(throws: Trouble.here) {
            try await AWPromise<Int>.rejected(Trouble.here).value
        }
        let (promise, resolver) = AWPromise<Int>.pending()
        async let value = promise.value
        resolver.fulfill(7)
        #expect(try await value == 7)
        #expect(try await promise.value == 7)
    }

    @Test("a cancelled task stops waiting, before or during the wait; the promise continues")
    func cancelledTask() async throws {
        let (promise, resolver) = AWPromise<Int>.pending()
        let begun = AWPromise<Void>.pending()
        let task = Task {
            begun.resolver.fulfill(())
            return try await promise.value
        }
        try await begun.promise.value
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        resolver.fulfill(7)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value
        }
        late.cancel()
        #expect(try await late.value == 7)
    }

    @Test("a cancelled task receives the value of a settled promise that is calling handlers")
    func cancelledTaskInBetween() async throws {
        let (promise, resolver) = AWPromise<Int>.pending()
        let calling = AWPromise<Void>.pending()
        let goOn = DispatchSemaphore(value: 0)
        promise.observe(on: here) { _ in
            calling.resolver.fulfill(())
            goOn.wait()
        }
        Thread.detachNewThread { resolver.fulfill(7) }
        try await calling.promise.value
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value
        }
        task.cancel()
        let outcome = await task.result
        goOn.signal()
        #expect(try outcome.get() == 7)
    }

    @Test("a promise of an async function settles with its value or its error")
    func task() async throws {
        #expect(try await AWPromise.task { 7 }.value == 7)
        await #expect(throws: Trouble.here) {
            try await AWPromise<Int>.task { throw Trouble.here }.value
        }
        let two = AWPromise.task { try await AWPromise.fulfilled(1).value + 1 }
        #expect(try await two.value == 2)
    }

    @Test("a token cancels the task behind a promise")
    func cancelledByToken() async {
        let source = CancellationSource()
        let (promise, resolver) = AWPromise<Int>.pending()
        let task = AWPromise<Int>.task(cancelledBy: source.token) { try await promise.value }
        source.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        withExtendedLifetime(resolver) {}
    }
}
