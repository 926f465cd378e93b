import Foundation
import RaceLab
import SharedSuite

/// How the values of a program are made, and recognized.
struct Conversion<Value>: Sendable {
    /// The values, for messages; `nil` if they are numbers.
    var values: String?
    let make: @Sendable (Int) -> Value
    let number: @Sendable (Value) -> Int
    var makeError: @Sendable (Int) -> any Error = { Coded(code: $0) }
    /// The error with this number is of a type that is not the program's.
    var foreign: (number: Int, error: any Error)?

    func error(_ number: Int) -> any Error {
        if let foreign, foreign.number == number { return foreign.error }
        return makeError(number)
    }

    func code(of error: any Error) -> Int {
        if let error = error as? Coded { return error.code }
        if let error = error as? Probed { return error.code }
        if let foreign, type(of: error) == type(of: foreign.error) { return foreign.number }
        return "\(error)" == "returnedItself"
            ? PromiseProgram.returnedItself : PromiseProgram.unknownError
    }
}

/// An error of a program.
struct Coded: Error, CustomStringConvertible {
    let code: Int
    var description: String { "error \(-code)" }
}

/// A value or an error of a program; see ``Probe``.
final class Probed: LocalizedError, CustomStringConvertible, @unchecked Sendable {
    let code: Int
    fileprivate let probe: Probe

    fileprivate init(_ code: Int, _ probe: Probe) {
        self.code = code
        self.probe = probe
    }

    var description: String {
        probe.look()
        return code < 0 ? "error \(-code)" : "\(code)"
    }

    var errorDescription: String? { description }

    deinit { probe.look() }
}

extension Probed: Hashable {
    static func == (left: Probed, right: Probed) -> Bool {
        left.probe.look()
        return left.code == right.code
    }

    func hash(into hasher: inout Hasher) {
        probe.look()
        hasher.combine(code)
    }
}

/// Runs a program on an answer, and records what can be seen.
final class PromiseRun<Value> {
    private let program: PromiseProgram
    private let conversion: Conversion<Value>
    private let rules: PromiseRules
    private let counter: Counter
    private let record: (PromiseEvent) -> Void
    private var texts: Pending<String>?
    private var functions: [(resolve: (Int) -> Void, reject: (Int) -> Void)]
    /// By number: those that the program has made, and those that `then` has returned.
    private var promises: [(any Handle<Value>)?]
    private var calls: [Int]
    private let semaphores = (0..<2).map { _ in DispatchSemaphore(value: 0) }
    /// Called by each handler, and when what it has captured is freed.
    private let probe: Probe?
    let standstill = Standstill()
    /// Whether it keeps also those promises that `then` has returned and the program does not use.
    private let keepsLinks: Bool

    /// Counts the objects that handlers have captured.
    final class Counter: @unchecked Sendable {
        var living = 0
        /// How many of them the handlers of a promise have captured.
        var onPromise: [Int: Int] = [:]
    }

    private final class Token: @unchecked Sendable {
        private let counter: Counter
        private let promise: Int
        private let probe: Probe?

        init(_ counter: Counter, _ promise: Int, _ probe: Probe?) {
            self.counter = counter
            self.promise = promise
            self.probe = probe
            counter.living += 1
            counter.onPromise[promise, default: 0] += 1
        }

        deinit {
            counter.living -= 1
            counter.onPromise[promise, default: 0] -= 1
            probe?.look()
        }
    }

    init(
        _ program: PromiseProgram, _ answer: any PromiseAnswer, _ conversion: Conversion<Value>,
        _ rules: PromiseRules, counter: Counter = Counter(), probe: Probe? = nil,
        keepsLinks: Bool = true, _ record: @escaping (PromiseEvent) -> Void
    ) {
        self.program = program
        self.conversion = conversion
        self.rules = rules
        self.counter = counter
        self.record = record
        self.probe = probe
        self.keepsLinks = keepsLinks
        texts = program.usesTexts ? Pending(answer) : nil
        let pending = (0..<program.roots).map { root in
            Pending<Value>(answer) { resolve, reject in
                guard root == 0 else { return }
                for (index, op) in program.threads[0].prefix(program.inBlock).enumerated() {
                    let settle = {
                        switch op {
                        case .resolve(_, let value): resolve(conversion.make(value))
                        case .reject(_, let error): reject(conversion.error(error))
                        default: break
                        }
                    }
                    record(.call(index))
                    probe?.look(while: settle)
                    settle()
                }
            }
        }
        functions = pending.enumerated().map { [texts] index, pending in
            if let texts, index == 1 {
                return ({ texts.resolve("\($0)") }, { texts.reject(conversion.error($0)) })
            }
            // Not the promise itself.
            let (resolve, reject) = (pending.resolve, pending.reject)
            return ({ resolve(conversion.make($0)) }, { reject(conversion.error($0)) })
        }
        promises = program.handlers.indices.map {
            $0 < program.roots ? pending[$0].promise : nil
        }
        calls = program.handlers.map { _ in 0 }
    }

    var root: (any Handle<Value>)? { promises[0] }
    /// The result of the first promise; `nil` if the program has dropped it.
    var final: PromiseProgram.Outcome?? { root.map { outcome(of: $0) } }
    /// The promises that `then` has returned.
    var links: [any Handle<Value>] { promises.dropFirst(program.roots).compactMap(\.self) }
    var rootFunctions: (resolve: (Int) -> Void, reject: (Int) -> Void) { functions[0] }
    var isSettled: Bool { promises.prefix(program.roots).allSatisfy { $0?.gradedResult != nil } }
    /// Whether none of its promises is pending.
    var isOver: Bool { promises.allSatisfy { $0.map { $0.gradedResult != nil } ?? true } }

    func runBefore() {
        for op in program.before { perform(op) }
    }

    func run(_ thread: Int) {
        for op in program.threads[thread] { perform(op) }
    }

    /// Runs a program with one thread.
    func runInSequence() {
        let ops = (program.before + program.threads[0]).enumerated()
        for (index, op) in ops.dropFirst(program.inBlock) {
            record(.call(index))
            perform(op)
        }
        record(.call(-1))
    }

    private func perform(_ op: PromiseProgram.Op) {
        switch op {
        case .then(let promise, let handler):
            guard let called = promises[promise] else { return }
            let link = then(called, handler, Token(counter, promise, probe))
            if keepsLinks || program.uses(handler) { set(handler, link) }
        case .error(let promise, let handler):
            let token = Token(counter, promise, probe)
            promises[promise]?.gradedError { error in
                withExtendedLifetime(token) { self.call(handler, self.conversion.code(of: error)) }
            }
        case .resolve(let promise, let value): functions[promise].resolve(value)
        case .reject(let promise, let error): functions[promise].reject(error)
        case .read(let promise, let reader):
            record(.reads(reader, promises[promise].flatMap(outcome)))
        case .drop:
            dropPromises()
            // Releases the function, resolve or reject, that the program does not call again.
            let isResolved = program.threads[0].contains {
                if case .resolve = $0 { true } else { false }
            }
            functions = functions.map {
                isResolved ? ($0.resolve, { _ in }) : ({ _ in }, $0.reject)
            }
        case .signal(let semaphore): semaphores[semaphore].signal()
        case .wait(let semaphore): semaphores[semaphore].wait()
        }
    }

    private func outcome(of promise: any Handle<Value>) -> PromiseProgram.Outcome? {
        switch promise.gradedResult {
        case .success(let value)?: conversion.number(value)
        case .failure(let error)?: conversion.code(of: error)
        case nil: nil
        }
    }

    private func then(
        _ promise: any Handle<Value>, _ handler: Int, _ token: Token
    ) -> any Handle<Value> {
        let work = { (value: Value) -> Int in
            let number = self.conversion.number(value)
            withExtendedLifetime(token) { self.call(handler, number) }
            return number + self.rules.increment
        }
        func flat<Next>(_ next: @escaping () throws -> any Handle<Next>) -> any Handle<Next> {
            promise.gradedFlatten { value in
                _ = work(value)
                return try next()
            }
        }
        let conversion = conversion
        let back = { (text: String) -> Value in conversion.make(Int(text) ?? 0) }
        let error = { conversion.error(PromiseProgram.thrown(by: handler)) }
        switch program.handlers[handler]!.effect {
        case .value: return promise.gradedThen { conversion.make(work($0)) }
        case .failure:
            return promise.gradedThen { value -> Value in
                _ = work(value)
                throw error()
            }
        case .text: return promise.gradedThen { "\(work($0))" }.gradedThen(back)
        case .failureForPromise: return flat { throw error() }
        case .promise(let other, asText: false): return flat { self.promises[other]! }
        case .promise(_, asText: true): return flat { self.texts!.promise }.gradedThen(back)
        case .itself(asText: false): return flat { self.promises[handler]! }
        case .itself(asText: true):
            var own: (any Handle<String>)?
            let text = flat { own! }
            own = text
            return text.gradedThen(back)
        }
    }

    private func call(_ handler: Int, _ outcome: Int) {
        record(.begins(handler, outcome))
        probe?.look()
        calls[handler] += 1
        // A handler that is called again by what it does would be called without end.
        if calls[handler] <= 2 {
            for op in program.handlers[handler]!.body {
                if case .wait = op { standstill.during { perform(op) } } else { perform(op) }
            }
        }
        record(.ends(handler))
    }

    private func dropPromises() {
        for promise in promises.indices { set(promise, nil) }
    }

    /// The end of the one before may call a handler, which may read the list.
    private func set(_ promise: Int, _ link: (any Handle<Value>)?) {
        withExtendedLifetime(promises[promise]) { promises[promise] = link }
    }

    /// Drops the promises one by one, in this order.
    ///
    /// - Parameter mayLive: those that may live because of the ones that are left.
    /// - Returns: whether another one is kept alive, or what its handlers have captured.
    func keepsAlive(dropping order: [Int], _ mayLive: ([Int]) -> Set<Int>) -> Bool {
        let objects = promises.map { $0.map { Weak(object: $0) } }
        return order.indices.contains { index in
            let promise = order[index]
            set(promise, nil)
            if promise < program.roots {
                functions[promise] = ({ _ in }, { _ in })
                // A promise of texts stands for the second one.
                if promise == 1 { texts = nil }
            }
            let living = mayLive(Array(order[(index + 1)...]))
            return objects.indices.contains {
                !living.contains($0)
                    && (objects[$0]?.object != nil || counter.onPromise[$0, default: 0] != 0)
            }
        }
    }

    /// Releases everything that the program still has.
    func letGo() {
        dropPromises()
        functions = []
        texts = nil
    }
}

extension PromiseProgram {
    /// Whether it uses the promise that the `then` with this handler has returned.
    func uses(_ handler: Int) -> Bool {
        let isUsed = operations.contains {
            switch $0 {
            case .then(let promise, _), .error(let promise, _), .read(let promise, _):
                promise == handler
            default: false
            }
        }
        return isUsed
            || handlers.contains {
                switch $0?.effect {
                case .promise(let other, _): other == handler
                case .itself: true
                default: false
                }
            }
    }

    /// Whether it needs a promise of texts.
    var usesTexts: Bool {
        handlers.contains {
            if case .promise(_, asText: true) = $0?.effect { true } else { false }
        }
    }
}

/// Stops the program at each call of a handler, and each use and `deinit` of a value or an error,
/// until another thread has used the promise. If the program holds a lock, neither can continue.
final class Probe: @unchecked Sendable {
    private let otherCodeRuns = DispatchSemaphore(value: 0)
    private let promiseIsUsed = DispatchSemaphore(value: 0)
    private var isLooking = false
    private var isOver = false
    /// What the other thread does.
    var use: () -> Void = {}

    func look() {
        guard !isLooking, !isOver else { return }
        isLooking = true
        otherCodeRuns.signal()
        promiseIsUsed.wait()
        isLooking = false
    }

    /// The other thread uses the promise in this way.
    func look(while use: @escaping () -> Void) {
        self.use = use
        look()
        self.use = {}
    }

    func end() {
        isLooking = true
        isOver = true
        otherCodeRuns.signal()
    }

    /// The body of the other thread.
    func help() {
        while true {
            otherCodeRuns.wait()
            if isOver { return }
            use()
            promiseIsUsed.signal()
        }
    }
}

extension Conversion {
    static func objects(_ probe: Probe) -> Conversion<Probed> {
        Conversion<Probed>(
            make: { Probed($0, probe) }, number: { $0.code }, makeError: { Probed($0, probe) })
    }

    static var numbers: Conversion<Int> { Conversion<Int>(make: { $0 }, number: { $0 }) }

    static var texts: Conversion<String> {
        Conversion<String>(
            values: "`String`, and handler a throws a `CancellationError`",
            make: { "\($0)" }, number: { Int($0) ?? -97 },
            foreign: (PromiseProgram.thrown(by: 1), CancellationError()))
    }

    static var errors: Conversion<Coded> {
        Conversion<Coded>(
            values: "an `Error`, and handler a throws a `DecodingError`",
            make: { Coded(code: $0) }, number: { $0.code },
            foreign: (
                PromiseProgram.thrown(by: 1),
                DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no number"))
            ))
    }

    /// The number 1 is converted to `nil`.
    static var optionals: Conversion<Int?> {
        Conversion<Int?>(
            values: "`Int?`, and error 1 is a `CancellationError`",
            make: { $0 == 1 ? nil : $0 }, number: { $0 ?? 1 }, foreign: (-1, CancellationError()))
    }

    static var nothing: Conversion<Void> {
        Conversion<Void>(
            values: "`Void`, and handler a throws a `LocalizedError`", make: { _ in },
            number: { _ in 1 }, foreign: (PromiseProgram.thrown(by: 1), Localized()))
    }

    static var arrays: Conversion<[Double]> {
        Conversion<[Double]>(
            values: "`[Double]`, and error 1 is a `POSIXError`",
            make: { [0.5, Double($0)] }, number: { $0.count == 2 ? Int($0[1]) : -97 },
            foreign: (-1, POSIXError(.EINTR)))
    }
}

private struct Localized: LocalizedError {}
