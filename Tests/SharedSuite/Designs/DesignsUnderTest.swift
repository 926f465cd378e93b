import FieldGuide

typealias Bolts = BoltsStyle<Int>
typealias PromiseKit = PromiseKitStyle<Int>
typealias Google = GooglePromisesStyle<Int>

// MARK: - Bolts

extension BoltsStyle: PromiseUnderTest where Value == Int {
    /// The default executor. It sends its work to the queue of the suite.
    private static var executor: BoltsExecutor { .watchingTheStack { DesignQueue.send($0) } }

    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> BoltsStyle<Int> {
        let source = BoltsSource<Int>()
        work(
            { value in _ = DesignQueue.afterwards { source.trySet(.success(value)) } },
            { error in _ = DesignQueue.afterwards { source.trySet(.failure(error)) } })
        return source.task
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> BoltsStyle<Int> {
        DesignQueue.afterwards { continueOnSuccess(Self.executor, function) }
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        _ = DesignQueue.afterwards {
            continueWith(Self.executor) { task in
                if case .failure(let error) = task.result { function(error) }
                return task
            }
        }
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("result", describe(result)), ("callbacks", Stored(of: self).count("callbacks"))]
    }
}

extension BoltsStyle: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> BoltsStyle<Int>
    ) -> BoltsStyle<Int> {
        DesignQueue.afterwards {
            continueWith(Self.executor) { task in try function(task.result!.get()) }
        }
    }
}

// MARK: - PromiseKit

extension PromiseKitStyle: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> PromiseKitStyle<Int> {
        PromiseKitStyle<Int> { seal in
            work({ seal(.success($0)) }, { seal(.failure($0)) })
        }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> PromiseKitStyle<Int> {
        map(on: nil, function)
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        `catch`(on: nil, function)
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("result", describe(result))]
    }
}

extension PromiseKitStyle: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> PromiseKitStyle<Int>
    ) -> PromiseKitStyle<Int> {
        then(on: nil, function)
    }
}

// MARK: - Google Promises

extension GooglePromisesStyle: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> GooglePromisesStyle<Int> {
        let promise = GooglePromisesStyle<Int>.pending()
        work(
            { value in DesignQueue.afterwards { promise.fulfill(value) } },
            { error in DesignQueue.afterwards { promise.reject(error) } })
        return promise
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> GooglePromisesStyle<Int> {
        DesignQueue.afterwards { then(on: DesignQueue.send, function) }
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        _ = DesignQueue.afterwards { `catch`(on: DesignQueue.send, function) }
    }

    public var outcome: Result<Int, any Error>? { result }

    public var fields: [(title: String, value: String)] {
        [("state", field(0)), ("observers", field(1))]
    }

    public func field(_ index: Int) -> String {
        let stored = Stored(of: self)
        return index == 0 ? stored.text("state") : stored.count("observers")
    }
}

extension GooglePromisesStyle: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> GooglePromisesStyle<Int>
    ) -> GooglePromisesStyle<Int> {
        DesignQueue.afterwards {
            then(on: DesignQueue.send) { value -> GooglePromisesStyle<Int> in
                try function(value)
            }
        }
    }
}
