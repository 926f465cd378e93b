// Settling once, twice, or before a handler is registered.

struct H01: OneThreadHazard {
    let id = "H01"
    let name = "settled before `then` is called"
    let story =
        "The work is done at once, so the promise is settled when `then` is called. The "
        + "handler must still receive the value, once."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [Int] = []
        let promise = P.working { resolve, _ in resolve(1) }
        promise.mapping {
            heard.append($0)
            return $0
        }
        try require(heard.count < 2, or: .twice, "the handler received \(heard)")
        try require(heard == [1], or: .lost, "the handler was never called")
        return "the handler received 1, once"
    }
}

struct H04: OneThreadHazard {
    let id = "H04"
    let name = "resolved twice"
    let story =
        "resolve(1), then resolve(2). The first call settles the promise; the second must "
        + "have no effect."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [Int] = []
        let (promise, resolve, _) = P.pending()
        promise.mapping {
            heard.append($0)
            return $0
        }
        resolve(1)
        resolve(2)
        try require(
            heard == [1] && describe(promise.outcome) == "fulfilled 1", or: .settledTwice,
            "the handler received \(heard), and the promise is \(describe(promise.outcome))")
        return "the handler received 1, once, and the promise stays fulfilled with 1"
    }
}

struct H05: OneThreadHazard {
    let id = "H05"
    let name = "resolved, then rejected"
    let story =
        "resolve(1), then reject('late'). The promise must stay fulfilled, and no handler may "
        + "receive the error."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, resolve, reject) = P.pending()
        promise.mapping {
            heard.append("value \($0)")
            return $0
        }
        .ending { heard.append("error \($0)") }
        resolve(1)
        reject(Sent("late"))
        try require(
            heard == ["value 1"] && describe(promise.outcome) == "fulfilled 1", or: .settledTwice,
            "the chain received \(heard.joined(separator: ", ")), and the promise is "
                + describe(promise.outcome))
        return "the chain received only the value, and the promise stays fulfilled"
    }
}

struct H15: OneThreadHazard {
    let id = "H15"
    let name = "released without settling"
    let story =
        "Both functions that could settle the promise are released without a call. The end of "
        + "the chain must receive an error: the promise is abandoned."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let promise = P.working { _, _ in }
        promise.mapping { $0 }.ending { heard.append("\($0)") }
        try require(!heard.isEmpty, or: .silence, "the end of the chain receives nothing")
        try require(heard == ["abandoned"], or: .wrongValue, "the chain received \(heard)")
        return "the end of the chain receives 'abandoned'"
    }
}
