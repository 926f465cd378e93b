import StepAOneLock
import StepBCallOutside
import StepCThirdPhase
import StepDCallbackQueue
import StepEDispatchers

// The steps from Stage 2 to Stage 3 as subjects. Each list contains the rows that a step still
// fails: a row that the step fixes is missing, and one that it breaks is new.

extension Subject {
    public static let oneLock = Subject(
        .step, "A", module: "StepAOneLock", title: "A", StepAOneLock.AWPromise<Int>.self,
        documented: [
            // Handlers run under the lock, and may wait for a thread that waits for the lock.
            "H08": .fails(.deadlock),
            "H10": .fails(.tooEarly),
            "H12": .fails(.stackOverflow),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            "R09": .fails(.deadlock),
            "R10": .fails(.deadlock),
        ])

    public static let callOutside = Subject(
        .step, "B", module: "StepBCallOutside", title: "B", StepBCallOutside.AWPromise<Int>.self,
        documented: [
            // A handler that is registered while others are being called overtakes them.
            "H08": .fails(.outOfOrder),
            "H10": .fails(.tooEarly),
            "H12": .fails(.stackOverflow),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            "R06": .fails(.outOfOrder),
        ])

    public static let thirdPhase = Subject(
        .step, "C", module: "StepCThirdPhase", title: "C", StepCThirdPhase.AWPromise<Int>.self,
        typeForAPlus: StepCThirdPhase.AWPromise<Int>.self,
        documented: [
            "H10": .fails(.tooEarly),
            "H12": .fails(.stackOverflow),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
        ])

    public static let callbackQueue = Subject(
        .step, "D", module: "StepDCallbackQueue", title: "D",
        StepDCallbackQueue.AWPromise<Int>.self,
        typeForAPlus: StepDCallbackQueue.AWPromise<Int>.self,
        documented: [
            "H10": .fails(.tooEarly),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
        ])

    public static let dispatchers = Subject(
        .step, "E", module: "StepEDispatchers", title: "E", StepEDispatchers.AWPromise<Int>.self,
        typeForAPlus: QueuedStepE.self,
        registerOnQueue: { queue, handler in
            let promise = StepEDispatchers.AWPromise<Int> { resolve, _ in resolve(1) }
            promise.then(on: queue) { _ in handler() }
        },
        documented: [
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
        ])
}

// MARK: - Their promises

/// The interface that steps A to D share. Handlers run as early as possible.
public protocol StepPromise: FlatteningPromise, SendableMetatype {
    init(
        block: (
            _ resolve: @escaping @Sendable (Int) -> Void,
            _ reject: @escaping @Sendable (any Error) -> Void
        ) -> Void)
    var result: Result<Int, any Error>? { get }
    func then(_ function: @escaping @Sendable (Int) throws -> Int) -> Self
    func then(_ function: @escaping @Sendable (Int) throws -> Self) -> Self
    func error(_ function: @escaping @Sendable (any Error) -> Void)
}

extension StepPromise {
    public static func working(_ work: (@escaping Resolve, @escaping Reject) -> Void) -> Self {
        Self { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> Self {
        nonisolated(unsafe) let function = function
        return then { try function($0) }
    }

    public func flatMapping(_ function: @escaping (Int) throws -> Self) -> Self {
        nonisolated(unsafe) let function = function
        return then { value -> Self in try function(value) }
    }

    public func ending(_ function: @escaping Reject) {
        nonisolated(unsafe) let function = function
        error { function($0) }
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] { [("result", describe(result))] }
}

extension StepAOneLock.AWPromise: PromiseUnderTest, FlatteningPromise, StepPromise
where Value == Int {}
extension StepBCallOutside.AWPromise: PromiseUnderTest, FlatteningPromise, StepPromise
where Value == Int {}
extension StepCThirdPhase.AWPromise: PromiseUnderTest, FlatteningPromise, StepPromise
where Value == Int {}
extension StepDCallbackQueue.AWPromise: PromiseUnderTest, FlatteningPromise, StepPromise
where Value == Int {}

extension StepEDispatchers.AWPromise: PromiseUnderTest, FlatteningPromise, StepPromise
where Value == Int {
    public func then(
        _ function: @escaping @Sendable (Int) throws -> Int
    ) -> StepEDispatchers.AWPromise<Int> {
        then(on: StepEDispatchers.ImmediateDispatcher(), function)
    }

    public func then(
        _ function: @escaping @Sendable (Int) throws -> StepEDispatchers.AWPromise<Int>
    ) -> StepEDispatchers.AWPromise<Int> {
        then(on: StepEDispatchers.ImmediateDispatcher(), function)
    }

    public func error(_ function: @escaping @Sendable (any Error) -> Void) {
        error(on: StepEDispatchers.ImmediateDispatcher(), function)
    }
}

/// Step E with handlers on a queue, for the clauses of Promises/A+.
final class QueuedStepE: FlatteningPromise {
    private let promise: StepEDispatchers.AWPromise<Int>

    private init(_ promise: StepEDispatchers.AWPromise<Int>) {
        self.promise = promise
    }

    static func working(_ work: (@escaping Resolve, @escaping Reject) -> Void) -> QueuedStepE {
        QueuedStepE(.working(work))
    }

    func mapping(_ function: @escaping (Int) throws -> Int) -> QueuedStepE {
        nonisolated(unsafe) let function = function
        return QueuedStepE(promise.then(on: QueuedPromise.queue) { try function($0) })
    }

    func flatMapping(_ function: @escaping (Int) throws -> QueuedStepE) -> QueuedStepE {
        nonisolated(unsafe) let function = function
        return QueuedStepE(promise.then(on: QueuedPromise.queue) { try function($0).promise })
    }

    func ending(_ function: @escaping Reject) {
        nonisolated(unsafe) let function = function
        promise.error(on: QueuedPromise.queue) { function($0) }
    }

    var outcome: Result<Int, any Error>? { promise.result }

    var fields: [(title: String, value: String)] { promise.fields }
}
