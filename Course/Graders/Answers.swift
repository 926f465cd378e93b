import PromiseOperators
import SharedSuite

// The protocols through which the requirements use an answer. The adapters implement them.

/// An answer that is a promise class: exercises 2 to 7 and 12.
public protocol PromiseAnswer: AnyObject {
    func handle<Value>(_ block: Pending<Value>.Block) -> any Handle<Value>
}

/// An answer that consists of two interleavings: exercise 1.
public protocol SchedulesAnswer: AnyObject {
    var losesAHandler: String { get }
    var deliversTwice: String { get }
}

/// An answer that names the bug of a promise, and fixes it: exercise 12.
public protocol BugHuntAnswer: PromiseAnswer {
    /// The original promise.
    var suspect: any PromiseUnderTest.Type { get }
    /// The id of the hazard that the original fails, and the interleaving.
    var hazard: String { get }
    var schedule: String { get }
}

/// Exercise 8.
public protocol AllAnswer: AnyObject, Sendable {
    func together<Value: Sendable>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]>
}

/// Exercise 9.
public protocol RaceAnswer: AnyObject, Sendable {
    func first<Value: Sendable>(of promises: [AWPromise<Value>]) -> AWPromise<Value>
    func inTime<Value: Sendable>(
        _ promise: AWPromise<Value>, _ limit: Duration, _ clock: any PromiseClock
    ) -> AWPromise<Value>
}

/// Exercise 10.
public protocol RetryAnswer: AnyObject, Sendable {
    func again<Value: Sendable>(
        _ attempts: Int, _ clock: any PromiseClock,
        delay: @escaping @Sendable (Int) -> Duration,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
        _ work: @escaping @Sendable (Int) throws -> AWPromise<Value>
    ) -> AWPromise<Value>
}

/// Exercise 11.
public protocol CancellationAnswer: AnyObject, Sendable {
    func source() -> any Canceller
}

/// The source of exercise 11.
public protocol Canceller {
    func gradedCancel()
    var gradedToken: any Cancellable { get }
}

/// The token.
public protocol Cancellable {
    var gradedIsCancelled: Bool { get }
    /// Returns a function that withdraws the observer.
    func gradedOnCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void
}

/// Exercise 13.
public protocol OfficeAnswer: AnyObject, Sendable {
    func office(seats: Int) -> Office
    /// The original.
    func original(seats: Int) -> Office
    /// The interleaving in which the original fails.
    var schedule: String { get }
}

/// A box office, as functions.
public struct Office: Sendable {
    public typealias Payment = @Sendable () async throws -> Void

    let sell: @Sendable (@escaping Payment) async throws -> Bool
    let freeSeats: @Sendable () async -> Int
    /// The stored properties, for the tables.
    let fields: @Sendable () -> [(title: String, value: String)]

    public init(
        sell: @escaping @Sendable (@escaping Payment) async throws -> Bool,
        freeSeats: @escaping @Sendable () async -> Int,
        fields: @escaping @Sendable () -> [(title: String, value: String)]
    ) {
        self.sell = sell
        self.freeSeats = freeSeats
        self.fields = fields
    }
}

/// Exercise 14.
public protocol SequenceLockAnswer: AnyObject, Sendable {
    func pair() -> any Pair
}

/// Two numbers behind a sequence lock.
public protocol Pair: Sendable {
    func write(_ newX: Int, _ newY: Int)
    func read() -> (x: Int, y: Int)?
}
