// Registering several handlers: early, late, or inside one another.

import Dispatch

struct H02: OneThreadHazard {
    let id = "H02"
    let name = "two `then`s on one promise"
    let story = "Two handlers are registered on one promise. Both must receive the value."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        let heard = try listen(P.self, to: ["first", "second"])
        try require(
            Set(heard) == ["first", "second"], or: .replaced,
            "only \(heard.joined(separator: ", ")) was called")
        return "both handlers were called"
    }
}

struct H03: OneThreadHazard {
    let id = "H03"
    let name = "`then` and `error` together"
    let story =
        "A chain is attached with `then`, and `error` is called on the same promise. When the "
        + "promise is rejected, the end of the chain must receive the error as well."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, _, reject) = P.pending()
        promise.mapping { $0 }.ending { _ in heard.append("end of the chain") }
        promise.ending { _ in heard.append("error on the promise") }
        reject(Sent("broken"))
        try require(
            heard.contains("end of the chain"), or: .linkLost,
            "only \(heard.joined(separator: ", ")) received the rejection")
        return "both received the rejection: \(heard.joined(separator: ", "))"
    }
}

struct H08: OneThreadHazard {
    let id = "H08"
    let name = "registering inside a handler"
    let story =
        "Two handlers are registered. The first one, while it runs, registers a third on the "
        + "same promise. The third must run after the second, which was registered before it."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var heard: [String] = []
        let (promise, resolve, _) = P.pending()
        promise.mapping { value in
            heard.append("first")
            promise.mapping {
                heard.append("third")
                return $0
            }
            return value
        }
        promise.mapping {
            heard.append("second")
            return $0
        }
        resolve(1)
        try requireOrder(heard, ["first", "second", "third"])
        return "called in the order \(heard.joined(separator: ", "))"
    }
}

struct H09: OneThreadHazard {
    let id = "H09"
    let name = "handlers are called in order"
    let story =
        "Five handlers are registered, three before the promise is fulfilled and two after. "
        + "They must run in the order of registration."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        let names = ["first", "second", "third", "fourth", "fifth"]
        let heard = try listen(P.self, to: names, early: 3)
        try requireOrder(heard, names)
        return "called in the order \(heard.joined(separator: ", "))"
    }
}

struct H10: Hazard {
    let id = "H10"
    let name = "handler before `then` returns"
    let story =
        "`then` is called on a fulfilled promise. Whether its handler runs before or after "
        + "the next line must not depend on how fast the work was."

    func runExpressible(on subject: Subject) -> Verdict {
        verdict {
            guard let register = subject.registerOnQueue else { return try run(subject.type) }
            return try judge(runOnQueue(register))
        }
    }

    private func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        var seen: [String] = []
        let promise = P.working { resolve, _ in resolve(1) }
        promise.mapping {
            seen.append("handler")
            return $0
        }
        seen.append("next line")
        return try judge(seen)
    }

    /// Registers from work on the same serial queue, so that only the promise determines the order.
    /// The next work on the queue runs after both.
    private func runOnQueue(
        _ register: (DispatchQueue, @escaping @Sendable () -> Void) -> Void
    ) -> [String] {
        let queue = DispatchQueue(label: "H10")
        let seen = Seen()
        queue.sync {
            register(queue) { seen.append("handler") }
            seen.append("next line")
        }
        return queue.sync { seen.entries }
    }

    private func judge(_ seen: [String]) throws -> String {
        try require(seen.count == 2, or: .lost, "seen: \(seen.joined(separator: ", "))")
        try require(
            seen == ["next line", "handler"], or: .tooEarly, "the handler ran before the next line")
        return "the next line ran first, then the handler"
    }

    /// Accessed on one queue only.
    private final class Seen: @unchecked Sendable {
        private(set) var entries: [String] = []
        func append(_ entry: String) { entries.append(entry) }
    }
}

/// Registers a handler for each name, fulfills the promise after `early` of them, and returns the
/// names in the order of the calls.
private func listen<P: PromiseUnderTest>(
    _ promise: P.Type, to names: [String], early: Int? = nil
) throws -> [String] {
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    for (index, name) in names.enumerated() {
        if index == early { resolve(1) }
        promise.mapping {
            heard.append(name)
            return $0
        }
    }
    if early == nil { resolve(1) }
    return heard
}

/// Checks that each handler ran exactly once, in this order.
public func requireOrder(_ heard: [String], _ expected: [String]) throws {
    let said = heard.isEmpty ? "none" : heard.joined(separator: ", ")
    for name in expected {
        let count = heard.count { $0 == name }
        try require(count > 0, or: .lost, "'\(name)' was never called; called: \(said)")
        try require(count < 2, or: .twice, "'\(name)' was called twice; called: \(said)")
    }
    try require(heard == expected, or: .outOfOrder, "called in the order \(said)")
}
