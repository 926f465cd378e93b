import SharedSuite

// What the adapters, which are compiled together with an answer, hand to the requirements.

/// An answer that is a class of promise: exercises 2 to 7 and 12.
public protocol PromiseAnswer: AnyObject {
    var promise: any PromiseUnderTest.Type { get }
}

extension PromiseAnswer {
    /// For exercises with the adapter `FlatteningPromise.swift`.
    var flatteningPromise: any FlatteningPromise.Type { promise as! any FlatteningPromise.Type }
}
