import Stage1Naive
import Stage2Handlers
import Stage3ThreadSafe

/// The interface through which the suite uses a promise, so that each hazard is written once for
/// all stages. The value is an `Int`: hazards only need to tell values apart.
public protocol PromiseUnderTest: AnyObject {
    typealias Resolve = (Int) -> Void
    typealias Reject = (any Error) -> Void

    /// A promise whose work is `work`, which runs at once.
    static func working(_ work: (@escaping Resolve, @escaping Reject) -> Void) -> Self

    /// `then` with a function that returns a value. Handlers run as early as the stage can.
    @discardableResult
    func mapping(_ function: @escaping (Int) throws -> Int) -> Self

    /// `error`. Handlers run as early as the stage can.
    func ending(_ function: @escaping Reject)

    var outcome: Result<Int, any Error>? { get }

    /// The columns of the promise in a table: titles and current values.
    var fields: [(title: String, value: String)] { get }
    /// The value of one of them: a table asks for one column after another.
    func field(_ index: Int) -> String
}

extension PromiseUnderTest {
    public func field(_ index: Int) -> String { fields[index].value }
}

extension PromiseUnderTest {
    /// A pending promise, and the two functions that settle it.
    public static func pending() -> (promise: Self, resolve: Resolve, reject: Reject) {
        var functions: (Resolve, Reject)!
        let promise = working { resolve, reject in functions = (resolve, reject) }
        return (promise, functions.0, functions.1)
    }
}

// MARK: - Stage 1

extension Stage1Naive.AWPromise: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> Stage1Naive.AWPromise<Int> {
        Stage1Naive.AWPromise<Int> { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> Stage1Naive.AWPromise<Int> {
        then(function)
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        error(function)
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("state", field(0)), ("f_then", field(1))]
    }

    public func field(_ index: Int) -> String {
        let stored = Stored(of: self)
        return index == 0 ? stored.text("state") : stored.isNil("f_then") ? "nil" : "set"
    }
}

// MARK: - Stage 2

/// A promise whose `then` also accepts a function that returns a promise.
public protocol FlatteningPromise: PromiseUnderTest {
    @discardableResult
    func flatMapping(_ function: @escaping (Int) throws -> Self) -> Self
}

extension Stage2Handlers.AWPromise: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> Stage2Handlers.AWPromise<Int> {
        Stage2Handlers.AWPromise<Int> { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> Stage2Handlers.AWPromise<Int>
    {
        then(function)
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        error(function)
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("state", field(0)), ("handlers", field(1))]
    }

    public func field(_ index: Int) -> String {
        let stored = Stored(of: self)
        return index == 0 ? stored.text("state") : stored.count("handlers")
    }
}

extension Stage2Handlers.AWPromise: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> Stage2Handlers.AWPromise<Int>
    ) -> Stage2Handlers.AWPromise<Int> {
        then { value -> Stage2Handlers.AWPromise<Int> in try function(value) }
    }
}

// MARK: - Stage 3

extension Stage3ThreadSafe.AWPromise: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> Stage3ThreadSafe.AWPromise<Int> {
        Stage3ThreadSafe.AWPromise<Int> { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int)
        -> Stage3ThreadSafe.AWPromise<Int>
    {
        nonisolated(unsafe) let function = function
        return then(on: ImmediateDispatcher()) { try function($0) }
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        nonisolated(unsafe) let function = function
        error(on: ImmediateDispatcher()) { function($0) }
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("result", describe(result))]
    }
}

extension Stage3ThreadSafe.AWPromise: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> Stage3ThreadSafe.AWPromise<Int>
    ) -> Stage3ThreadSafe.AWPromise<Int> {
        nonisolated(unsafe) let function = function
        return then(on: ImmediateDispatcher()) { value -> Stage3ThreadSafe.AWPromise<Int> in
            try function(value)
        }
    }
}

// MARK: - Looking inside

/// The stored properties of an object, including private ones. Reflection reads them, so the stages
/// need no interface for that.
struct Stored {
    private let mirror: Mirror

    init(of object: AnyObject) {
        mirror = Mirror(reflecting: object)
    }

    private func child(_ name: String) -> Any? {
        mirror.children.first { $0.label == name }?.value
    }

    /// The case of an enumeration, with its payload: `fulfilled(1)`.
    func text(_ name: String) -> String {
        child(name).map { "\($0)" } ?? "?"
    }

    func isNil(_ name: String) -> Bool {
        guard let value = child(name) else { return true }
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }

    func count(_ name: String) -> String {
        child(name).map { "\(Mirror(reflecting: $0).children.count)" } ?? "?"
    }
}

/// An outcome in two words.
func describe<Value>(_ outcome: Result<Value, any Error>?) -> String {
    switch outcome {
    case nil: "pending"
    case .success(let value): "fulfilled \(value)"
    case .failure(let error): "rejected \(error)"
    }
}
