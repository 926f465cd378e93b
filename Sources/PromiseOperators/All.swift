import Synchronization

extension AWPromise {
    /// Returns a promise of the values of all promises, in their order. It is
    /// rejected with the error of the first promise that is rejected. The
    /// others are not cancelled, but their outcomes are ignored.
    ///
    /// An empty array fulfills it at once. A promise may occur twice. Promises
    /// that are never settled keep each other, and the new one, alive.
    public static func all<Part>(
        _ promises: [AWPromise<Part>]
    ) -> AWPromise<[Part]> where Value == [Part] {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.fulfill([]) }
        for part in promises {
            resolver.follow(part, until: promise) { outcome in
                if case .failure(let error) = outcome { return .failure(error) }
                guard countdown.reachesZero() else { return nil }
                return Outcome { try promises.map { try $0.result!.get() } }
            }
        }
        return promise
    }

    /// Returns a promise of the values of promises of different types, a tuple.
    /// It is rejected with the error of the first that is rejected.
    ///
    /// ```swift
    /// AWPromise.all(name, age).then { name, age in … }
    /// ```
    // Swift 6.3 crashes when it optimizes this function across modules.
    @_semantics("optimize.no.crossmodule")
    public static func all<each Part>(
        _ promises: repeat AWPromise<each Part>
    ) -> AWPromise<(repeat each Part)> where Value == (repeat each Part) {
        let (promise, resolver) = pending()
        var count = 0
        for _ in repeat each promises { count += 1 }
        let countdown = Countdown(count)
        let values = { @Sendable in
            Outcome { (repeat try (each promises).result!.get()) }
        }
        if count == 0 { resolver.settle(values()) }
        for part in repeat each promises {
            resolver.follow(part, until: promise) { outcome in
                if case .failure(let error) = outcome { return .failure(error) }
                return countdown.reachesZero() ? values() : nil
            }
        }
        return promise
    }

    /// Returns a promise of all outcomes, in the order of the promises. It is
    /// never rejected; an empty array fulfills it at once. Promises that are
    /// never settled keep each other, and the new one, alive.
    public static func allSettled<Part>(
        _ promises: [AWPromise<Part>]
    ) -> AWPromise<[Result<Part, any Error>]>
    where Value == [Result<Part, any Error>] {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.fulfill([]) }
        for part in promises {
            resolver.follow(part, until: promise) { _ in
                guard countdown.reachesZero() else { return nil }
                return .success(promises.map { $0.result! })
            }
        }
        return promise
    }
}

/// Counts down on any number of threads. The thread that reaches zero sees all
/// that the others did before they counted.
final class Countdown: Sendable {
    private let remaining: Atomic<Int>

    init(_ start: Int) { remaining = Atomic(start) }

    /// Subtracts one, and returns whether zero is reached.
    func reachesZero() -> Bool {
        remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}
