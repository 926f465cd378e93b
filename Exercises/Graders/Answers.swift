import SharedSuite

// What the adapters, which are compiled together with an answer, hand to the requirements.

/// An answer that is a class of promise: exercises 2 to 7 and 12.
public protocol PromiseAnswer: AnyObject {
    var promise: any PromiseUnderTest.Type { get }
}

/// An answer that consists of two interleavings: exercise 1.
public protocol SchedulesAnswer: AnyObject {
    var losesAHandler: String { get }
    var deliversTwice: String { get }
}

/// An answer that says what is wrong with a promise, and mends it: exercise 12.
public protocol BugHuntAnswer: PromiseAnswer {
    /// The promise as it was.
    var suspect: any PromiseUnderTest.Type { get }
    /// The id of the hazard to which it falls, and the interleaving.
    var hazard: String { get }
    var schedule: String { get }
}
