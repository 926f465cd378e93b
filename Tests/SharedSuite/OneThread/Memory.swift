// Stack and memory.

import Foundation
import RaceLab

/// The hazards of a chain of a million links. A stack overflow ends the process, so each part runs
/// in a separate process.
public enum LongChain: String, CaseIterable, Sendable {
    case fulfilled
    case rejected
    case released

    /// An environment variable that makes the chains shorter, to save time.
    public static let variableForLinks = "LONG_CHAIN_LINKS"

    @TaskLocal public static var links =
        ProcessInfo.processInfo.environment[variableForLinks].flatMap(Int.init) ?? 1_000_000
}

/// A hazard about a long chain.
public protocol LongChainHazard: Hazard {
    var parts: [LongChain] { get }
}

extension LongChainHazard {
    /// A chain may overflow its stack, and after that a program under ThreadSanitizer does not end.
    public var unavailable: String? {
        Exploration.unavailable.flatMap { $0.contains("ThreadSanitizer") ? $0 : nil }
    }

    public func runExpressible(on subject: Subject) -> Verdict { ChildRun.run(parts, on: subject) }
}

struct H12: LongChainHazard {
    let id = "H12"
    let name = "a million links settle"
    let story =
        "A chain of 1,000,000 links is fulfilled, and another one is rejected. Neither may "
        + "exhaust the stack (of 8 MB)."
    let parts = [LongChain.fulfilled, .rejected]
}

struct H19: LongChainHazard {
    let id = "H19"
    let name = "a million links are released"
    let story =
        "A pending chain of 1,000,000 links is released, together with the functions that "
        + "could settle it. Freeing one link after another must not exhaust the stack (of 8 "
        + "MB)."
    let parts = [LongChain.released]
}

extension LongChain {
    /// Call this in a process that may crash.
    func run(on subject: Subject, links: Int) throws -> String { try run(subject.type, links) }

    private func run<P: PromiseUnderTest>(_ promise: P.Type, _ links: Int) throws -> String {
        var heard: [String] = []
        do {
            let (first, resolve, reject) = P.pending()
            var last = first
            for _ in 0..<links { last = last.mapping { $0 + 1 } }
            last.mapping {
                heard.append("\($0)")
                return $0
            }
            .ending { heard.append("\($0)") }
            last = first
            switch self {
            case .fulfilled: resolve(0)
            case .rejected: reject(Sent("error"))
            case .released: break
            }
        }
        switch self {
        case .fulfilled: try requireOrder(heard, ["\(links)"])
        case .rejected: try requireOrder(heard, ["'error'"])
        case .released: break
        }
        return "\(rawValue), with \(links) links"
    }
}

struct H13: OneThreadHazard {
    let id = "H13"
    let name = "handlers freed after settling"
    let story =
        "A handler has captured an object. After the promise has settled, it never calls the "
        + "handler again, so it must release the handler, and with it the object."

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
        try require(!isAlive, or: .keptAlive, "the settled promise still references its handler")
        return "the captured object is freed"
    }
}

struct H14: OneThreadHazard {
    let id = "H14"
    let name = "a pending promise is released"
    let story =
        "A pending promise with a chain is released, together with the functions that could "
        + "settle it. All of them must be freed."

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
            "a reference cycle remains")
        return "the promise, its chain and the captured object are freed"
    }
}

/// An object for a handler to capture.
private final class Captured {}
