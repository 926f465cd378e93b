// Values and errors along a chain.

struct H06: OneThreadHazard {
    let id = "H06"
    let name = "a throwing function rejects"
    let story =
        "A function in the middle of a chain throws. The functions after it must not run, and "
        + "`error` at the end must receive the error, once."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, resolve, _) = P.pending()
        promise
            .mapping { _ in throw Sent("thrown") }
            .mapping {
                heard.append("value \($0)")
                return $0
            }
            .ending { heard.append("\($0)") }
        resolve(1)
        try requireOrder(heard, ["'thrown'"])
        return "the end of the chain received 'thrown', once, and no other function ran"
    }
}

struct H07: FlatteningHazard {
    let id = "H07"
    let name = "a handler returns a promise"
    let story =
        "A function passed to `then` returns a promise that is settled later. The chain must "
        + "wait for it, and continue with its value or its error."

    func run<P: FlatteningPromise>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (outer, resolveOuter, _) = P.pending()
        let (inner, resolveInner, _) = P.pending()
        let (failing, _, rejectFailing) = P.pending()
        outer.flatMapping { _ in inner }
            .mapping {
                heard.append("value \($0)")
                return $0
            }
            .flatMapping { _ in failing }
            .ending { heard.append("error \($0)") }
        resolveOuter(1)
        try require(heard.isEmpty, or: .tooEarly, "the chain did not wait: \(heard)")
        resolveInner(2)
        try requireOrder(heard, ["value 2"])
        rejectFailing(Sent("inner"))
        try requireOrder(heard, ["value 2", "error 'inner'"])
        return "the chain waited, and continued with the inner value, then with the inner error"
    }
}

struct H11: FlatteningHazard {
    let id = "H11"
    let name = "a promise that waits for itself"
    let story =
        "A function passed to `then` returns the very promise that this `then` has returned. "
        + "That promise would wait for itself, so it must be rejected."

    func run<P: FlatteningPromise>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, resolve, _) = P.pending()
        var successor: P!
        successor = promise.flatMapping { _ in successor }
        successor.ending { heard.append("\($0)") }
        resolve(1)
        try require(!heard.isEmpty, or: .waitsForEver, "the promise waits for itself")
        try require(heard == ["returnedItself"], or: .wrongValue, "the chain received \(heard)")
        return "the successor is rejected with 'returnedItself'"
    }
}

struct H16: OneThreadHazard {
    let id = "H16"
    let name = "a link without a reference"
    let story =
        "Only the first promise of a chain is referenced by the program. The end of the chain "
        + "must receive the value all the same."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [Int] = []
        let (promise, resolve, _) = P.pending()
        promise.mapping { $0 + 1 }.mapping { $0 + 1 }.mapping {
            heard.append($0)
            return $0
        }
        resolve(1)
        try require(!heard.isEmpty, or: .lost, "the end of the chain was never called")
        try require(heard == [3], or: .wrongValue, "the end of the chain received \(heard)")
        return "the end of the chain received 3"
    }
}

struct H17: OneThreadHazard {
    let id = "H17"
    let name = "`error` late and far down"
    let story =
        "A promise is rejected before `error` is called, three links further down. `error` "
        + "must receive that error, unchanged."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, _, reject) = P.pending()
        let end = promise.mapping { $0 }.mapping { $0 }.mapping {
            heard.append("value \($0)")
            return $0
        }
        reject(Sent("early"))
        end.ending { heard.append("\($0)") }
        promise.mapping { $0 }.ending { heard.append("\($0)") }
        try require(heard.count < 3, or: .twice, "received: \(heard)")
        try require(heard.count == 2, or: .lost, "received: \(heard)")
        try require(heard == ["'early'", "'early'"], or: .wrongValue, "received: \(heard)")
        return "'early' arrived after three `then`s, and after a `then` that came later"
    }
}
