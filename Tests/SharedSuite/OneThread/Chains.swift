// How values and errors travel down a chain.

struct H06: OneThreadHazard {
    let id = "H06"
    let name = "a throwing function rejects"
    let story =
        "A function in the middle of a chain throws. The functions after it must not run, "
        + "and `error` at the end has to hear of it, once."

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
        return "the end of the chain heard 'thrown', once, and nobody else was called"
    }
}

struct H07: FlatteningHazard {
    let id = "H07"
    let name = "`then` returns a promise"
    let story =
        "A function passed to `then` returns a promise that is settled later. The chain "
        + "has to wait for it, and go on with its value, or with its error."

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
        return "the chain waited, and went on with the inner value, then with the inner error"
    }
}

struct H11: FlatteningHazard {
    let id = "H11"
    let name = "a promise that waits for itself"
    let story =
        "A function passed to `then` returns the promise that this very `then` has "
        + "returned. It would wait for itself; it has to be rejected instead."

    func run<P: FlatteningPromise>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, resolve, _) = P.pending()
        var successor: P!
        successor = promise.flatMapping { _ in successor }
        successor.ending { heard.append("\($0)") }
        resolve(1)
        try require(!heard.isEmpty, or: .waitsForEver, "the promise waits for itself")
        try require(heard == ["returnedItself"], or: .wrongValue, "the chain heard \(heard)")
        return "the successor is rejected with 'returnedItself'"
    }
}

struct H16: OneThreadHazard {
    let id = "H16"
    let name = "a link that nobody keeps"
    let story =
        "Only the first promise of a chain is kept by anybody. The end of the chain has to "
        + "hear the value all the same."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [Int] = []
        let (promise, resolve, _) = P.pending()
        promise.mapping { $0 + 1 }.mapping { $0 + 1 }.mapping {
            heard.append($0)
            return $0
        }
        resolve(1)
        try require(!heard.isEmpty, or: .lost, "the end of the chain was never called")
        try require(heard == [3], or: .wrongValue, "the end of the chain heard \(heard)")
        return "the end of the chain heard 3"
    }
}

struct H17: OneThreadHazard {
    let id = "H17"
    let name = "`error` late, and far down"
    let story =
        "A promise is rejected before anybody calls `error`, and the one who does stands "
        + "behind three `then`s. The error has to arrive there, untouched."

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
        try require(heard.count < 3, or: .twice, "heard: \(heard)")
        try require(heard.count == 2, or: .lost, "heard: \(heard)")
        try require(heard == ["'early'", "'early'"], or: .wrongValue, "heard: \(heard)")
        return "'early' arrived behind three `then`s, and behind one attached after the rejection"
    }
}
