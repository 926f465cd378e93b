import Synchronization

extension AWPromise {
    /// Waits for all promises. Fulfilled with their values, in the order of the
    /// promises whatever the order in which they are settled, or rejected as
    /// soon as one of them is, with its error: the first, where several are.
    /// The others go on, but nobody waits for them any more.
    ///
    /// Nothing gives an empty array, at once. One promise may be there twice.
    ///
    /// Google's `all`, PromiseKit's `when(fulfilled:)`, JavaScript's `all`. The
    /// `whenAll` of Bolts waits for every task, also after a failure, and so
    /// does ``allSettled(_:)``. In freshOS/then the values come in the order in
    /// which they are ready, which is of no use to anybody.
    public static func all<Part>(
        _ promises: [AWPromise<Part>]
    ) -> AWPromise<[Part]> where Value == [Part] {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.fulfill([]) }
        for part in promises {
            resolver.follow(part) { outcome in
                if case .failure(let error) = outcome { return .failure(error) }
                guard countdown.reachesZero() else { return nil }
                return Result { try promises.map { try $0.result!.get() } }
            }
        }
        return promise
    }

    /// Waits for promises of different types. Fulfilled with a tuple of their
    /// values, or rejected as soon as one of them is. Nothing gives an empty
    /// tuple, at once.
    ///
    /// ```swift
    /// AWPromise.all(name, age).then { name, age in … }
    /// ```
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
            resolver.follow(part) { outcome in
                if case .failure(let error) = outcome { return .failure(error) }
                return countdown.reachesZero() ? values() : nil
            }
        }
        return promise
    }

    /// Waits for all promises, and never fails: fulfilled with the outcomes, in
    /// the order of the promises. Nothing gives an empty array, at once.
    ///
    /// PromiseKit's `when(resolved:)`, JavaScript's `allSettled`. Google's
    /// `any` does the same, but fails if every promise does.
    public static func allSettled<Part>(
        _ promises: [AWPromise<Part>]
    ) -> AWPromise<[Result<Part, any Error>]>
    where Value == [Result<Part, any Error>] {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.fulfill([]) }
        for part in promises {
            resolver.follow(part) { _ in
                guard countdown.reachesZero() else { return nil }
                return .success(promises.map { $0.result! })
            }
        }
        return promise
    }
}

/// Counts down on any number of threads, one of which reaches zero. By then
/// each of the others has seen what it had to wait for.
final class Countdown: Sendable {
    private let remaining: Atomic<Int>

    init(_ start: Int) {
        remaining = Atomic(start)
    }

    /// Counts, and says whether this was the last.
    func reachesZero() -> Bool {
        remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}
