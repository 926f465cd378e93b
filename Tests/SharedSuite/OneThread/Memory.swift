// What a promise costs, and what it keeps alive.

struct H12: Hazard {
    /// As many links as a chain has to have.
    static let links = 1_000_000

    /// What can be done with such a chain, each run on its own.
    enum Part: String, CaseIterable, Sendable {
        case fulfilled
        case rejected
        case dropped
    }

    let id = "H12"
    let name = "a chain of a million links"
    let story =
        "A chain of 1,000,000 links is fulfilled, another one is rejected, and a third one "
        + "is dropped while it is pending. None of that may exhaust the stack (of 8 MB)."

    /// It can end the process, so each part runs in a process of its own.
    func runExpressible(on subject: Subject) -> Verdict {
        ChildRun.run(ChildRun.parts, on: subject)
    }

    /// To be called in a process that may be lost.
    func run(_ part: Part, on subject: Subject) throws -> String {
        try run(part, subject.type)
    }

    private func run<P: PromiseUnderTest>(_ part: Part, _ promise: P.Type) throws -> String {
        var heard: [String] = []
        do {
            let (first, resolve, reject) = P.pending()
            var last = first
            for _ in 0..<H12.links { last = last.mapping { $0 + 1 } }
            last.mapping {
                heard.append("\($0)")
                return $0
            }
            .ending { heard.append("\($0)") }
            last = first
            switch part {
            case .fulfilled: resolve(0)
            case .rejected: reject(Sent("error"))
            case .dropped: break
            }
        }
        switch part {
        case .fulfilled: try requireOrder(heard, ["\(H12.links)"])
        case .rejected: try requireOrder(heard, ["'error'"])
        case .dropped: break
        }
        return "\(part.rawValue), with \(H12.links) links"
    }
}

struct H13: OneThreadHazard {
    let id = "H13"
    let name = "handlers freed after settling"
    let story =
        "A handler has captured an object. Once the promise is settled nobody will call "
        + "the handler again, so the object must not live on, even if the promise does."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        let (promise, resolve, _) = P.pending()
        weak var captured: Captured?
        do {
            let object = Captured()
            captured = object
            promise.mapping { value in withExtendedLifetime(object) { value } }
        }
        resolve(1)
        let isAlive = captured != nil
        withExtendedLifetime(promise) {}
        try require(!isAlive, or: .keptAlive, "the settled promise still holds its handler")
        return "what the handler had captured is gone"
    }
}

struct H14: OneThreadHazard {
    let id = "H14"
    let name = "a pending promise is dropped"
    let story =
        "A pending promise with a chain behind it is dropped, together with the functions "
        + "that could settle it. All of it has to be freed."

    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String {
        weak var first: P?
        weak var second: P?
        weak var captured: Captured?
        do {
            let (promise, resolve, reject) = P.pending()
            let object = Captured()
            let next = promise.mapping { value in withExtendedLifetime(object) { value } }
            next.ending { _ in withExtendedLifetime(object) {} }
            (first, second, captured) = (promise, next, object)
            withExtendedLifetime((resolve, reject)) {}
        }
        try require(
            first == nil && second == nil && captured == nil, or: .keptAlive,
            "something holds on to itself")
        return "the promise, its chain and what that had captured are gone"
    }
}

/// Something to be captured and let go.
private final class Captured {}
