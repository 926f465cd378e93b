import RaceLab
import SharedSuite

// What the exercises that ask for a promise class require: exercises 2 to 7, and 12.

extension PromiseChecks {
    /// All requirements of an exercise, with the ids `E07.1`, `E07.2` and so on.
    func requirements(
        _ exercise: Int, first: Int = 1, threads: Bool = false,
        _ programs: @escaping @Sendable () -> [PromiseProgram]
    ) -> [Requirement] {
        let programs = { @Sendable in
            let all = programs()
            return all + PromisePrograms.insideTheBlock(all)
        }
        let number = exercise < 10 ? "0\(exercise)" : "\(exercise)"
        let id = { "E\(number).\(first + $0)" }
        var all: [Requirement] = [
            .programs(
                id(0), "one thread, small programs",
                "One thread calls `then`, `error`, `resolve`, `reject` and `result`, in every order, "
                    + "and handlers make these calls, too. Each handler is called as often, with the "
                    + "value, and in the order that the task promises."
            ) { inSequence(programs(), $0) },
            .programs(
                id(1), "one thread, other types of values",
                "Some of these programs again, with promises of strings, optionals, arrays, errors "
                    + "and `Void`, and with errors such as a `CancellationError`."
            ) { otherValues(PromisePrograms.ofValues(exercise), $0) },
            .many(
                id(2), flattens: exercise == 4, settlesOnce: exercise > 2,
                takesTurns: rules.takesTurns),
        ]
        if threads {
            all += [
                .programs(
                    id(3), "two and three threads, small programs",
                    "Two or three threads make one or two calls each, on a promise that is pending or "
                        + "settled. In every interleaving, the calls have results that they could have "
                        + "one after another."
                ) { answer in
                    let returning = callsOutside ? [] : PromisePrograms.settledWhenItReturns
                    return inThreads(PromisePrograms.inThreads() + returning, answer)
                },
                .programs(
                    id(4), "two threads and strings",
                    "Some of these programs again, with a promise of strings."
                ) { inThreads(PromisePrograms.meetingsOfValues, $0, .texts) },
            ]
        }
        if callsOutside {
            all += [
                .programs(
                    id(5), "no lock is held while other code runs",
                    "Each handler, each `deinit` of a value, an error or an object that a handler has "
                        + "captured, and each use of the text of an error or a value waits until "
                        + "another thread has read the result, registered handlers and, if the promise "
                        + "is settled, settled it again."
                ) { answer in
                    let all = PromisePrograms.ofProbes
                    return withProbes(all + PromisePrograms.insideTheBlock(all), answer)
                }.whenStuck(
                    "called under a lock",
                    "code that is not the promise's runs while a lock is held, and another thread "
                        + "waits for that lock"
                ).with(\.isAlsoRunOptimized, true),
                .programs(
                    id(6), "handlers that wait for another thread",
                    "A handler waits until another thread has called `then`, `error`, `resolve`, "
                        + "`reject` or `result`. No thread may wait for the handler, because the "
                        + "handler waits for it.",
                    asking:
                        "Which thread calls the handler that waits, and what else must that thread do?"
                ) { inThreads(PromisePrograms.waiting(rules), $0) },
            ]
        }
        if threads {
            all.append(
                .independence(
                    id(7), of: "promises",
                    "One thread settles a promise, and another thread settles a second, unrelated "
                        + "promise. Each also drops a promise that is pending. Then they use one that "
                        + "is pending, and the one that its `then` has returned.",
                    with: (any PromiseAnswer).self,
                    then: { answer in
                        let promise = Pending<Int>(answer).promise
                        let link = promise.gradedThen { $0 }
                        return [promise, link].map { promise in
                            {
                                promise.gradedError { _ in }
                                return promise.gradedResult
                            }
                        }
                    }
                ) { answer in
                    let all = PromisePrograms.everything
                    let run = PromiseRun(all, answer, .numbers, rules) { _ in }
                    run.runInSequence()
                    let other = PromisePrograms.abandoned
                    let abandoned = PromiseRun(other, answer, .numbers, rules) { _ in }
                    abandoned.runInSequence()
                    abandoned.letGo()
                    return run
                })
        }
        all.append(
            .programs(
                id(8), "everything is freed",
                "The programs with one thread run again. "
                    + (freesHandlers
                        ? "When a promise is settled, it has released what its handlers have "
                            + "captured. " : "")
                    + "Then the program drops one promise after the other. Each of them, and what its "
                    + "handlers have captured, is freed unless it waits for one that is left."
            ) { memory(programs(), $0) })
        if threads, freesHandlers {
            all.append(
                .programs(
                    id(9), "everything is freed: two threads",
                    "One thread registers a handler, and another settles the promise. In every "
                        + "interleaving, the promise has released what its handlers have captured."
                ) { inThreads(PromisePrograms.meetingsOfMemory, $0, watchesMemory: true) })
        }
        return all
    }

    private func otherValues(
        _ programs: [PromiseProgram], _ answer: any PromiseAnswer
    ) -> Programs {
        // `Void` has no next value.
        var nothing = self
        nothing.rules.increment = 0
        let short = programs.filter { $0.size < 3 }
        let long = programs.filter { $0.size >= 3 }
        var all = Programs(joining: [
            inSequence(short, answer, .texts),
            nothing.inSequence(short, answer, .nothing),
            inSequence(long, answer, .texts),
            inSequence(programs, answer, .errors),
            inSequence(programs, answer, .optionals),
            inSequence(programs, answer, .arrays),
            nothing.inSequence(long, answer, .nothing),
        ])
        if callsOutside {
            all.watched = 2 * short.count
            all.forbidsCallsUnderLocks = true
        }
        return all
    }
}

extension Requirement {
    /// Numbers of handlers, links and settlements have no limit.
    static func many(
        _ id: String, flattens: Bool, settlesOnce: Bool, takesTurns: Bool
    ) -> Requirement {
        .unwatched(
            id, "thousands of everything",
            "\(Bounds.many) handlers wait for a value, and on another promise as many for an error. "
                + "Others register as many more, each of them the next, or the next two. Each is "
                + "called, once, in the order of registration. A chain has as many links."
                + (flattens ? " As many functions return one pending promise." : "")
                + (settlesOnce ? " As many later calls of `resolve` change nothing." : ""),
            asking: "Which of your lines limits how many there can be?",
            with: (any PromiseAnswer).self, stack: 256 << 20
        ) { answer in
            for rejecting in [false, true] {
                try crowd(answer, rejecting: rejecting, settling: settlesOnce ? Bounds.many : 1)
                try nest(answer, rejecting: rejecting, takesTurns: takesTurns)
                try spread(answer, rejecting: rejecting, takesTurns: takesTurns)
                try chain(answer, flattens: flattens, rejecting: rejecting)
                if flattens { try share(answer, rejecting: rejecting) }
            }
        }
    }
}

// MARK: The programs

extension PromisePrograms {
    private static let core = [
        then, chain, error, chainOfErrors, failing, resolve, reject, read, registering,
        registeringForErrors,
    ]

    /// What can happen to a promise that is fulfilled, and to another one that is rejected.
    static let everything: PromiseProgram = {
        let uses =
            [then, error, failing, registering] + [then, error, registeringForErrors].map(other)
        let settling = [read, resolve, reject, other(reject), read, other(read)]
        return program([uses + settling + uses], roots: 2)
    }()

    /// Nothing is left that could settle the promise.
    static let abandoned = program([[then, error]])

    /// For one thread.
    static func inSequence(settlingOnce: Bool = false) -> [PromiseProgram] {
        let settling = settlingOnce ? [resolve, reject] : [resolve, resolveOtherwise, reject]
        let inside =
            [
                registering, registeringForErrors, registeringBoth, registeringDeep,
                registeringDeepErrors, reading,
            ] + (settlingOnce ? [] : [settlingAgain])
        let others = core.filter {
            ![registering, registeringForErrors].map(\.name).contains($0.name)
        }
        let wide =
            others.filter { !settling.map(\.name).contains($0.name) } + settling + inside
            + [longChain, text]
        let most = { (operations: [Operation]) -> Bool in
            count("12jk", in: operations) <= (settlingOnce ? 1 : 2)
        }
        let narrow = [then, chain, error, registering] + settling
        // When the promises are dropped, only the functions are left that settle them.
        let dropped = [then, chain, error, chainOfErrors, failing, longChain].flatMap { operation in
            [[], [then], [error]].flatMap { other in
                [resolve, reject].map { program([[operation] + other + [drop, $0]]) }
            }
        }
        let all =
            sequences(of: wide, upTo: 3) {
                most($0) && ($0.count < 3 || count("12jk", in: $0) > 0)
            }
            + sequences(of: narrow, upTo: 4) {
                $0.count == 4 && most($0) && count("12jk", in: $0) > 0
            }
            + dropped
            + sequences(
                of: [other(then), other(resolve), other(error), other(reject)] + [
                    then, resolve, read,
                ],
                upTo: 3, roots: 2
            ) { most($0) && $0.count == 3 && (!settlingOnce || count("o1oj", in: $0) < 2) }
        return (all + branches + throughAnother).sorted { $0.size < $1.size }
    }

    /// Handlers, or chains, on the promise that a `then` returned, before and after it is settled.
    private static let branches: [PromiseProgram] = {
        let handlers = [then, chain, error, chainOfErrors, failing, registeringBoth, reading]
        let settling = [resolve, reject]
        var all = [then, failing].flatMap { link in
            sequences(of: handlers.map { linked($0) } + settling, upTo: 3, after: [link]) {
                count("1j", in: $0) == 1
            }
        }
        for (registering, other) in [(registering, then), (registeringForErrors, error)] {
            for settle in settling {
                let second = [linked(registering, next: 1), linked(other, next: 1)]
                all.append(program([[chain] + second + [settle]]))
            }
        }
        for other in [nil, then, error] {
            all += settling.map {
                program([[usingItsPromise()] + [other].compactMap { $0 } + [$0]])
            }
        }
        return all
    }()

    /// A handler registers others on a second, settled promise, or settles a second one.
    private static let throughAnother: [PromiseProgram] = {
        typealias Use = @Sendable (inout Builder) -> Void
        let observing: [Use] = [
            { $0.then(1) }, { $0.error(1) }, { $0.error($0.then($0.then(1))) },
        ]
        let settling: [Use] = [
            { $0.ops.append(.resolve(1, 2)) }, { $0.ops.append(.reject(1, -2)) },
            { builder in
                builder.ops.append(.resolve(1, 2))
                builder.then(0)
            },
        ]
        let back = Operation("back") { builder, promise in builder.then(promise) { $0.then(0) } }
        let settled: [[Operation]] = [[resolve], [reject]]
        let pending = [then, chain, error, chainOfErrors, back].map { [$0, then, error] }
        return observing.flatMap { through($0, settled) }
            + settling.flatMap { through($0, pending) }
    }()

    private static func through(
        _ use: @escaping @Sendable (inout Builder) -> Void, _ others: [[Operation]]
    ) -> [PromiseProgram] {
        let handler = Operation("through") { builder, promise in
            builder.then(promise, .value, use)
            builder.error(promise, use)
        }
        var all: [PromiseProgram] = []
        for operations in others {
            let second = operations.map(other)
            for settle in [resolve, reject] {
                all.append(program([second + [handler, then, settle]], roots: 2))
                all.append(program([[handler] + second + [settle]], roots: 2))
                all.append(program([second + [settle, handler]], roots: 2))
            }
        }
        return all
    }

    static func ofValues(_ exercise: Int) -> [PromiseProgram] {
        // In exercise 2, a promise is settled only once.
        oneValue + (exercise > 2 ? settledTwice : []) + (exercise == 4 ? returningValues : [])
    }

    private static let oneValue =
        sequences(of: [then, chain, error, failing, resolve, reject, read], upTo: 3) {
            count("1", in: $0) + count("j", in: $0) == 1
        } + [
            program([[registering, then, resolve]]),
            program([[registeringForErrors, error, reject]]),
        ]

    /// A second settlement changes nothing.
    private static let settledTwice = sequences(of: [then, error, resolve, reject, read], upTo: 3) {
        count("1", in: $0) == 1 && count("j", in: $0) == 1
    }

    private static let returningValues = sequences(
        of: [returning(1), resolve, reject, other(resolve), other(reject)], upTo: 3, roots: 2)

    static let ofProbes: [PromiseProgram] = {
        let settles = { (operations: [Operation]) -> Bool in
            count("12j", in: operations) > 0
        }
        let few = [
            then, error, chainOfErrors, failing, registeringBoth, resolve, resolveOtherwise, reject,
        ]
        return sequences(
            of: few + [
                chain, read, registering, registeringDeep, registeringDeepErrors, settlingAgain,
            ],
            upTo: 2, where: settles)
            + sequences(of: few, upTo: 3) { $0.count == 3 && settles($0) }
    }()

    static let meetingsOfMemory = meetings(
        before: [[], [then, error]],
        [[[then], [error], [chain], [failing], [registering]], [[resolve], [reject]]])

    static let meetingsOfValues = meetings(
        before: [[], [then]],
        [
            [[then], [chain], [resolve], [reject], [error]],
            [[then], [resolveOtherwise], [read], [error]],
        ])

    /// Handlers that wait for the progress of another thread, which uses the promise meanwhile. No
    /// order that the rules allow makes a thread wait for itself.
    static func waiting(_ rules: PromiseRules) -> [PromiseProgram] {
        let uses = [
            then, error, chain, chainOfErrors, registering, registeringForErrors, read,
            resolveOtherwise, reject,
        ]
        let helpers = uses.map { [$0, signal] } + uses.map { [begun, $0, signal] }
        // The promise that the `then` of such a handler has returned, and one that such a handler
        // waits for, are used, too.
        let links = [then, error, chain, registering, read].map { [begun, linked($0), signal] }
        let onLinks =
            meetings(
                before: [[waiting], [waitingAndFailing], [then, linked(waiting)]],
                [[[resolve]], links])
            + meetings(
                before: [[failing, linked(waitingForErrors)], [then, linked(waitingForErrors)]],
                [[[resolve], [reject]], links])
        let all =
            onLinks
            + [(waiting, resolve), (waitingForErrors, reject)].flatMap { handler, settle in
                meetings(before: [[handler], [then, handler, error]], [[[settle]], helpers])
                    + meetings(before: [[settle]], [[[handler]], helpers])
            }
        return all.filter { !PromiseModel.mayBlock($0, rules) }
    }

    static func inThreads() -> [PromiseProgram] {
        let single = [
            then, chain, error, failing, resolve, resolveOtherwise, reject, read, registering,
            registeringForErrors, settlingAgain,
        ].map { [$0] }
        let some = [then, error, resolve, reject, read]
        let pairs = some.flatMap { first in some.map { [first, $0] } }
        let few = [then, resolve, reject]
        let short = few.flatMap { first in few.map { [first, $0] } }
        var all = meetings(before: [[], [then], [resolve], [reject]], [single, single])
        all += meetings([[[resolve], [reject]], [[read]], [[read]]])
        all += meetings(
            before: [[], [then]], [pairs, [[then], [error], [resolve], [reject], [read]]])
        all += meetings(
            before: [[], [registering], [error]],
            [
                [[then], [resolve], [reject]], [[then], [error], [resolve]],
                [[then], [read], [registering]],
            ])
        all += meetings(before: [[]], [short, short])
        // A link of a chain, and handlers that register others.
        all += meetings(
            before: [[chain], [failing], [chainOfErrors]],
            [
                [[resolve], [reject]],
                [
                    [linked(then)], [linked(error)], [linked(read)], [linked(chain)],
                    [linked(registering)],
                ],
            ])
        all += meetings(
            before: [
                [registeringBoth], [registeringDeep], [registeringDeepErrors], [settlingAgain],
                [chainOfErrors, then], [then, error, then],
            ],
            [
                [[resolve], [reject]],
                [[then], [error], [registering], [chainOfErrors], [resolveOtherwise], [reject]],
            ])
        // One call returns before another begins.
        all += meetings([
            [[resolve, signal], [reject, signal], [then, signal]],
            [[wait, then], [wait, error], [wait, read], [wait, resolveOtherwise]],
            [[then], [read], [resolve]],
        ])
        all += meetings(
            before: [[chainOfErrors], [then]],
            [
                [[resolve], [reject]], [[then, signal], [error, signal]],
                [[wait, then], [wait, chainOfErrors]],
            ])
        // Two promises.
        all += meetings(
            before: [[then, other(then)]],
            [[[resolve], [then]], [[other(resolve)], [other(then)], [other(reject)]]], roots: 2)
        // Others come first again and again.
        all += meetings([[[then, then, resolve]], [[then]]])
        return all
    }

    /// When `resolve` returns, the handler that had been waiting has settled a second promise.
    static let settledWhenItReturns: [PromiseProgram] = {
        let settling = Operation("through") { builder, promise in
            builder.then(promise) { $0.ops.append(.resolve(1, 2)) }
        }
        return meetings(before: [[settling]], [[[resolve, other(read)]], [[then]]], roots: 2)
    }()

    /// For exercise 4: the function returns a promise.
    static func returningPromises() -> [PromiseProgram] {
        let wide = [
            returning(1), resolving(4), reject, then, other(then), other(resolve), other(reject),
            other(error), failing, failingForPromise,
        ]
        let returns = { (operations: [Operation]) -> Bool in
            count("p", in: operations) + count("y", in: operations) > 0
        }
        let own = [
            returningItself(), returningItself(asText: true), returning(0), resolve, reject, then,
        ]
        var all = sequences(of: wide, upTo: 4, roots: 2, where: returns)
        all += sequences(
            of: [returning(1, asText: true), resolving(4), reject, other(resolve), other(reject)],
            upTo: 4, roots: 2, where: returns)
        for adoption in [returningAdopted, returningLink] {
            all += sequences(
                of: [adoption, resolving(4), reject, other(resolve), other(reject)],
                upTo: 3, roots: 2)
        }
        all += sequences(
            of: [linked(returning(1)), linked(then), resolving(4), reject, other(resolve)],
            upTo: 3, after: [then], roots: 2)
        // Nothing waits for the promise that is returned, until it is settled.
        all += sequences(
            of: [
                linked(returning(1)), adoptingFirst, linked(then), linked(error), resolve,
                other(resolve),
            ], upTo: 3, after: [returningItsOwn], roots: 2)
        let using = usingItsPromise(.promise(1, asText: false))
        all += [other(resolve), other(reject)].map {
            program([[using, resolve, $0]], roots: 2)
        }
        for asText in [false, true] {
            let itself = linked(returningItself(asText: asText))
            all += [resolve, reject].map { program([[then, itself, $0]]) }
        }
        all += sequences(of: own, upTo: 3) { operations in
            // A function that is called at once cannot return what `then` has not returned yet.
            let early = operations.prefix { !"1j".contains($0.name) }
            return count("p", in: operations) + count("i", in: operations) > 0
                && count("i", in: operations) == count("i", in: Array(early))
        }
        let crowd = [then, error, then].map(other)
        all.append(program([crowd + [returning(1), resolving(4), other(resolve)]], roots: 2))
        return all.sorted { $0.size < $1.size }
    }
}

// MARK: Many

private func crowd(
    _ answer: any PromiseAnswer, rejecting: Bool, settling times: Int
) throws {
    var heard: [Int] = []
    let pending = Pending<Int>(answer)
    for number in 1...Bounds.many {
        if !rejecting {
            _ = pending.promise.gradedThen { _ in heard.append(number) }
        } else if number % 2 == 0 {
            pending.promise.gradedError { _ in heard.append(number) }
        } else {
            pending.promise.gradedThen { $0 }.gradedError { _ in heard.append(number) }
        }
    }
    // The first call settles the promise. The others change nothing, however many there are.
    for number in 1...times {
        if rejecting { pending.reject(Sent("no")) } else { pending.resolve(number) }
    }
    try judge(heard, "that wait")
    guard case .success(let value)? = pending.promise.gradedResult, value != 1 else { return }
    throw Fault("settles twice", "call \(value) of `resolve` has an effect")
}

/// Registers work for the error, or for the value.
private func observe(_ promise: any Handle<Int>, _ rejecting: Bool, _ work: @escaping () -> Void) {
    if rejecting {
        promise.gradedError { _ in work() }
    } else {
        _ = promise.gradedThen { _ in work() }
    }
}

/// Each handler registers the next one.
private func nest(_ answer: any PromiseAnswer, rejecting: Bool, takesTurns: Bool) throws {
    var heard: [Int] = []
    var returned = 0
    var early: Int?
    let pending = Pending<Int>(answer)
    func register(_ number: Int) {
        let work = {
            if returned < number - 1, early == nil { early = number }
            heard.append(number)
            if number < Bounds.many { register(number + 1) }
            returned = number
        }
        observe(pending.promise, rejecting, work)
    }
    register(1)
    if rejecting { pending.reject(Sent("no")) } else { pending.resolve(1) }
    try judge(heard, "of which each registers the next")
    guard takesTurns, let early else { return }
    throw Fault(
        "out of order", "handler \(early) is called before handler \(early - 1) has returned")
}

/// Each handler registers the next two, so that more and more wait while handlers are called.
private func spread(_ answer: any PromiseAnswer, rejecting: Bool, takesTurns: Bool) throws {
    var heard: [Int] = []
    var registered = 0
    let pending = Pending<Int>(answer)
    func register(_ count: Int) {
        for _ in 0..<count where registered < Bounds.many {
            registered += 1
            let number = registered
            let work = {
                heard.append(number)
                register(2)
            }
            observe(pending.promise, rejecting, work)
        }
    }
    register(1)
    if rejecting { pending.reject(Sent("no")) } else { pending.resolve(1) }
    // Otherwise a handler may be called as soon as it is registered.
    try judge(takesTurns ? heard : heard.sorted(), "each of which registers the next two")
}

/// Each link is a `then` on the promise of the link before, or returns that promise.
private func chain(_ answer: any PromiseAnswer, flattens: Bool, rejecting: Bool) throws {
    var heard: [Int] = []
    let pending = Pending<Int>(answer)
    var last = pending.promise
    for number in 1...Bounds.many {
        let before = last
        let hear = { (value: Int) -> Int in
            heard.append(number)
            return value
        }
        last =
            flattens
            ? before.gradedFlatten { value in
                _ = hear(value)
                return before
            } : before.gradedThen(hear)
    }
    if rejecting {
        last.gradedError { _ in heard = Array(1...Bounds.many) }
        pending.reject(Sent("no"))
    } else {
        pending.resolve(1)
    }
    try judge(heard, "in a chain")
}

/// The functions of all links return the same pending promise.
private func share(_ answer: any PromiseAnswer, rejecting: Bool) throws {
    var heard: [Int] = []
    let (settled, pending) = (Pending<Int>(answer), Pending<Int>(answer))
    settled.resolve(1)
    for number in 1...Bounds.many {
        let link = settled.promise.gradedFlatten { _ in pending.promise }
        observe(link, rejecting) { heard.append(number) }
    }
    if rejecting { pending.reject(Sent("no")) } else { pending.resolve(1) }
    // No order is promised between the handlers of two promises.
    try judge(heard.sorted(), "of links whose functions return one promise")
}

private func judge(_ heard: [Int], _ which: String) throws {
    let (count, called) = (Bounds.many, Set(heard))
    if let lost = (1...count).first(where: { !called.contains($0) }) {
        throw Fault("lost", "of \(count) handlers \(which), handler \(lost) is never called")
    }
    if heard.count > count {
        throw Fault("twice", "there are \(count) handlers \(which), and \(heard.count) calls")
    }
    if let (next, early) = zip(1...count, heard).first(where: { $0 != $1 }) {
        throw Fault("out of order", "handler \(early) was called before handler \(next)")
    }
}
