/// A small program over the interface of a promise. Promises have numbers: first those that the
/// program makes, then one for each handler, the promise that its `then` returns.
struct PromiseProgram: Hashable {
    /// The number of promises that the program makes.
    var roots = 1
    /// What runs before the threads begin.
    var before: [Op] = []
    var threads: [[Op]]
    /// How many calls of the only thread are made inside the block of the first promise.
    var inBlock = 0
    /// All handlers, by number. The numbers of the roots are not used.
    var handlers: [Handler?] = []

    var readers = 0

    /// Where a reader's results are in ``PromiseModel/Seen/received``: after those of the handlers.
    func slot(of reader: Int) -> Int { handlers.count + reader }

    /// A value, or the negative number of an error.
    typealias Outcome = Int

    indirect enum Op: Hashable {
        case then(Int, Int)
        case error(Int, Int)
        case resolve(Int, Outcome)
        case reject(Int, Outcome)
        /// Reads the result. The second number distinguishes the readers.
        case read(Int, Int)
        /// Releases all promises. The functions that settle them remain.
        case drop
        case signal(Int)
        case wait(Int)
    }

    struct Handler: Hashable {
        var effect = Effect.value
        var body: [Op] = []
    }

    /// What the function of a handler does in the end.
    enum Effect: Hashable {
        /// It returns the next value.
        case value
        case failure
        /// It throws, and is one that returns a promise otherwise.
        case failureForPromise
        /// It returns a text, which another link turns into the value.
        case text
        /// It returns a promise, possibly of texts.
        case promise(Int, asText: Bool)
        /// It returns the promise that its own `then` has returned.
        case itself(asText: Bool)
    }

    static let returnedItself: Outcome = -99
    static let unknownError: Outcome = -98

    /// The error that a handler throws.
    static func thrown(by handler: Int) -> Outcome { -100 - handler }

    /// These promises, and those that wait for them, directly or not: a promise that `then` returns
    /// waits for the one on which it was called, and for the one that its function returns.
    func reached(from promises: [Int]) -> Set<Int> {
        let links: [(from: Int, to: Int)] = operations.flatMap { op -> [(from: Int, to: Int)] in
            guard case .then(let promise, let handler) = op else { return [] }
            guard case .promise(let other, _) = handlers[handler]?.effect else {
                return [(promise, handler)]
            }
            return [(promise, handler), (other, handler)]
        }
        var (reached, next) = (Set<Int>(), promises)
        while let promise = next.popLast() {
            guard reached.insert(promise).inserted else { continue }
            next += links.filter { $0.from == promise }.map(\.to)
        }
        return reached
    }

    /// All operations, including those in handlers.
    var operations: [Op] {
        var all = before
        all += threads.joined()
        all += handlers.flatMap { $0?.body ?? [] }
        return all
    }

    var isSequential: Bool { threads.count == 1 }

    /// The number of calls, including those in handlers.
    var size: Int {
        before.count + threads.joined().count + handlers.reduce(0) { $0 + ($1?.body.count ?? 0) }
    }
}

// MARK: The text

extension PromiseProgram: CustomStringConvertible {
    var description: String {
        let texts = threads.map { text(Array($0.dropFirst(inBlock))) }
        let all =
            isSequential
            ? texts[0] : zip("ABC", texts).map { "\($0): \($1)" }.joined(separator: " ∥ ")
        let early = text(before + threads[0].prefix(inBlock))
        let first = inBlock > 0 ? "inside the block of `init`, \(early)" : early
        return [first, all].filter { !$0.isEmpty }.joined(separator: ", then ")
    }

    private func text(_ ops: [Op]) -> String {
        var parts: [String] = []
        var last: Int?
        for op in ops {
            switch op {
            case .then(let promise, let handler), .error(let promise, let handler):
                var isThen = false
                if case .then = op { isThen = true }
                let call = "\(isThen ? "then" : "error")(\(text(of: handler, isThen)))"
                if promise == last {
                    parts[parts.count - 1] += ".\(call)"
                } else {
                    parts.append("\(name(promise)).\(call)")
                }
                last = isThen ? handler : nil
                continue
            case .resolve(let promise, let value):
                parts.append("\(name(promise)).resolve(\(value))")
            case .reject(let promise, let error):
                parts.append("\(name(promise)).reject(\(PromiseProgram.text(error)))")
            case .read(let promise, _): parts.append("\(name(promise)).result")
            case .drop: parts.append("all promises are dropped")
            case .signal: parts.append("signal")
            case .wait: parts.append("wait")
            }
            last = nil
        }
        return parts.joined(separator: "; ")
    }

    private func text(of handler: Int, _ isThen: Bool) -> String {
        guard let known = handlers[handler] else { return "" }
        var end: String?
        switch known.effect {
        case .value: break
        case .failure: end = "throw"
        case .failureForPromise: end = "throw instead of returning a promise"
        case .text: end = "return a String"
        case .promise(let promise, let asText):
            end = "return \(name(promise))\(asText ? ", a promise of a String" : "")"
        case .itself(let asText):
            end = "return its own promise\(asText ? ", of a String" : "")"
        }
        let inside = [text(known.body), end ?? ""].filter { !$0.isEmpty }.joined(separator: "; ")
        return inside.isEmpty ? letter(handler) : "\(letter(handler)): \(inside)"
    }

    func letter(_ handler: Int) -> String {
        let index = handler - roots
        return index < 26
            ? String(UnicodeScalar(UInt8(ascii: "a") + UInt8(index))) : "h\(index)"
    }

    func name(_ promise: Int) -> String {
        promise < roots ? ["p", "q", "r"][promise] : "[promise of \(letter(promise))]"
    }

    static func text(_ outcome: Outcome?) -> String {
        switch outcome {
        case nil: "pending"
        case returnedItself?: "returnedItself"
        case unknownError?: "an error that was never sent"
        case let code? where code <= -100: "the error thrown"
        case let code? where code < 0: "error \(-code)"
        case let code?: "\(code)"
        }
    }
}

/// Something that a program does and that can be seen.
enum PromiseEvent: Hashable {
    /// A call of the main program begins. Recorded for programs with one thread only.
    case call(Int)
    case begins(Int, PromiseProgram.Outcome)
    case ends(Int)
    case reads(Int, PromiseProgram.Outcome?)
}
