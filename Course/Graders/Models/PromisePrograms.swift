/// The small programs over the interface of a promise.
struct PromisePrograms {
    /// An operation of a generated program: a few calls on one promise.
    struct Operation: Sendable {
        let name: String
        let add: @Sendable (inout Builder, _ promise: Int) -> Void

        init(_ name: String, _ add: @escaping @Sendable (inout Builder, Int) -> Void) {
            self.name = name
            self.add = add
        }
    }

    /// Numbers handlers and readers while a program is put together.
    struct Builder {
        var program = PromiseProgram(threads: [])
        var ops: [PromiseProgram.Op] = []

        init(roots: Int) {
            program.roots = roots
            program.handlers = Array(repeating: nil, count: roots)
        }

        mutating func handler(
            _ effect: PromiseProgram.Effect = .value,
            _ inside: (inout Builder) -> Void = { _ in }
        ) -> Int {
            let number = program.handlers.count
            program.handlers.append(PromiseProgram.Handler(effect: effect))
            let outer = ops
            ops = []
            inside(&self)
            program.handlers[number]!.body = ops
            ops = outer
            return number
        }

        @discardableResult
        mutating func then(
            _ promise: Int, _ effect: PromiseProgram.Effect = .value,
            _ inside: (inout Builder) -> Void = { _ in }
        ) -> Int {
            let number = handler(effect, inside)
            ops.append(.then(promise, number))
            return number
        }

        mutating func error(_ promise: Int, _ inside: (inout Builder) -> Void = { _ in }) {
            let number = handler(.value, inside)
            ops.append(.error(promise, number))
        }

        /// A `then` with handlers for the outcome of the promise that it returns.
        mutating func observed(_ promise: Int, _ effect: PromiseProgram.Effect) {
            let next = then(promise, effect)
            then(next)
            error(next)
        }

        mutating func read(_ promise: Int) {
            ops.append(.read(promise, program.readers))
            program.readers += 1
        }
    }

    // MARK: Operations

    static let then = Operation("t") { $0.then($1) }
    static let chain = Operation("c") { $0.then($0.then($1)) }
    static let error = Operation("e") { $0.error($1) }
    static let chainOfErrors = Operation("ce") { $0.error($0.then($1)) }
    static let longChain = Operation("cc") { builder, promise in
        let second = builder.then(builder.then(promise))
        builder.then(second)
        builder.error(second)
    }
    static let failing = Operation("x") { $0.observed($1, .failure) }
    static let failingForPromise = Operation("y") { $0.observed($1, .failureForPromise) }
    static let text = Operation("s") { $0.error($0.then($0.then($1, .text))) }
    static let resolve = resolving(1)
    static let resolveOtherwise = resolving(2)
    static let reject = Operation("j") { $0.ops.append(.reject($1, -1)) }
    static let read = Operation("r") { $0.read($1) }
    static let registering = Operation("n") { builder, promise in
        builder.then(promise) { $0.then(promise) }
    }
    static let registeringForErrors = Operation("m") { builder, promise in
        builder.error(promise) { $0.error(promise) }
    }
    static let registeringBoth = Operation("b") { builder, promise in
        builder.then(promise) {
            $0.error(promise)
            $0.error($0.then(promise))
            $0.then(promise, .failure)
        }
        builder.error(promise) {
            $0.then(promise)
            $0.error($0.then(promise))
        }
    }
    static let registeringDeep = Operation("d") { builder, promise in
        builder.then(promise) { $0.then(promise) { $0.then(promise) { $0.then(promise) } } }
    }
    static let registeringDeepErrors = Operation("f") { builder, promise in
        builder.error(promise) {
            $0.error($0.then(promise))
            $0.error(promise) { $0.error($0.then(promise)) }
        }
    }
    static let settlingAgain = Operation("u") { builder, promise in
        let settle = { (builder: inout Builder) in
            builder.read(promise)
            builder.ops += [.resolve(promise, 3), .reject(promise, -3)]
            builder.read(promise)
        }
        builder.then(promise, .value, settle)
        builder.error(promise, settle)
    }
    static let reading = Operation("v") { builder, promise in
        builder.then(promise) { $0.read(promise) }
        builder.error(promise) { $0.read(promise) }
    }
    /// The operation on the promise that the `then` with this number, from 0, has returned.
    static func linked(_ operation: Operation, next: Int = 0) -> Operation {
        Operation("l\(operation.name)") {
            operation.add(&$0, $0.program.roots + next); _ = $1
        }
    }
    /// The function uses the promise that its own `then` has returned.
    static func usingItsPromise(_ effect: PromiseProgram.Effect = .value) -> Operation {
        Operation("own") { builder, promise in
            let own = builder.program.handlers.count
            builder.then(promise, effect) {
                $0.read(own)
                $0.then(own)
                $0.error($0.then(own))
            }
            builder.then(own)
        }
    }
    /// The operation on the second promise.
    static func other(_ operation: Operation) -> Operation {
        Operation("o\(operation.name)") {
            operation.add(&$0, 1); _ = $1
        }
    }
    static let signal = Operation(">") { $0.ops.append(.signal($1)) }
    static let wait = Operation("<") { $0.ops.append(.wait($1)) }
    /// Handlers that wait until another thread calls `signal`.
    static let waiting = Operation("w") { builder, promise in
        builder.then(promise) { $0.ops += [.signal(1), .wait(0)] }
    }
    static let waitingForErrors = Operation("we") { builder, promise in
        builder.error(promise) { $0.ops += [.signal(1), .wait(0)] }
    }
    /// The function waits, and then throws.
    static let waitingAndFailing = Operation("wx") { builder, promise in
        builder.then(promise, .failure) { $0.ops += [.signal(1), .wait(0)] }
    }
    /// Waits until such a handler has begun.
    static let begun = Operation("B") { builder, _ in builder.ops.append(.wait(1)) }
    static let drop = Operation("D") { builder, _ in builder.ops.append(.drop) }
    static func returning(_ promise: Int, asText: Bool = false) -> Operation {
        Operation("p") { $0.observed($1, .promise(promise, asText: asText)) }
    }
    /// The function returns a promise that adopts another one.
    static let returningAdopted = Operation("pa") { builder, own in
        let inner = builder.then(1, .promise(1, asText: false))
        builder.observed(own, .promise(inner, asText: false))
    }
    /// The function makes the promise that it returns, a link on the second one.
    static let returningLink = Operation("pl") { builder, own in
        let next = builder.program.handlers.count
        builder.then(own, .promise(next + 1, asText: false)) { $0.then(1) }
        builder.then(next)
        builder.error(next)
    }
    static func returningItself(asText: Bool = false) -> Operation {
        Operation("i") { $0.observed($1, .itself(asText: asText)) }
    }
    static let returningItsOwn = Operation("io") { $0.then($1, .itself(asText: false)) }
    /// On the second promise: the function returns the promise that the first `then` has returned.
    static let adoptingFirst = Operation("p1") { builder, _ in
        builder.observed(1, .promise(builder.program.roots, asText: false))
    }
    static func resolving(_ value: Int) -> Operation {
        Operation("\(value)") { $0.ops.append(.resolve($1, value)) }
    }

    // MARK: Programs

    /// A program of these operations, on promise 0.
    static func program(
        before: [Operation] = [], _ threads: [[Operation]], roots: Int = 1
    ) -> PromiseProgram {
        var builder = Builder(roots: roots)
        let ops = { (operations: [Operation]) -> [PromiseProgram.Op] in
            builder.ops = []
            for operation in operations { operation.add(&builder, 0) }
            return builder.ops
        }
        let early = ops(before)
        builder.program.threads = threads.map(ops)
        builder.program.before = early
        return builder.program
    }

    /// All sequences of up to `length` operations.
    static func sequences(
        of operations: [Operation], upTo length: Int, after first: [Operation] = [],
        roots: Int = 1,
        where isWanted: ([Operation]) -> Bool = { _ in true }
    ) -> [PromiseProgram] {
        var all: [PromiseProgram] = []
        var longest: [[Operation]] = [[]]
        for _ in 0..<length {
            longest = longest.flatMap { shorter in operations.map { shorter + [$0] } }
            all += longest.filter(isWanted).map { program([first + $0], roots: roots) }
        }
        return all
    }

    /// One thread for each of the lists, in every combination of their choices. Combinations that
    /// differ only in the order of the threads count as one.
    static func meetings(
        before: [[Operation]] = [[]], _ threads: [[[Operation]]], roots: Int = 1
    ) -> [PromiseProgram] {
        var known: Set<[String]> = []
        let distinct = combinations(threads).filter { combination in
            known.insert(combination.map { $0.map(\.name).joined(separator: ",") }.sorted())
                .inserted
        }
        return before.flatMap { before in
            distinct.map { program(before: before, $0, roots: roots) }
        }
    }

    /// The short programs again that begin by settling the promise, which they now do inside the
    /// block of `init`.
    static func insideTheBlock(_ programs: [PromiseProgram]) -> [PromiseProgram] {
        programs.compactMap { program in
            var program = program
            program.inBlock =
                program.threads[0].prefix { op in
                    switch op {
                    case .resolve(0, _), .reject(0, _): true
                    default: false
                    }
                }.count
            return program.inBlock > 0 && program.size < 4 ? program : nil
        }
    }

    /// How many times one of these is called.
    static func count(_ names: String, in operations: [Operation]) -> Int {
        operations.count { names.contains($0.name) }
    }
}
