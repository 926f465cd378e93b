import Dispatch
import RaceLab
import SharedSuite

// Shared by exercises 6, 7 and 12: no lock of the promise is held while unknown code runs.

extension Requirement {
    static func usesItsOwnPromise(_ id: String) -> Requirement {
        .oneThread(
            id, "a handler that uses its promise",
            "A handler for a value, and on another promise one for an error, reads the result of "
                + "its own promise, settles it again, and registers two others on it, one for a "
                + "value and one for an error: early, and late. Each handler for the outcome is "
                + "called once, and the second settlement changes nothing.",
            asking:
                "What does the thread hold while the handler runs, and does the handler "
                + "need it, too? And what calls the handlers that are registered meanwhile?",
            with: (any PromiseAnswer).self
        ) { answer in
            try useInside(answer.promise, rejecting: false)
            try useInside(answer.promise, rejecting: true)
        }
    }

    static func settledAgain(_ id: String) -> Requirement {
        .scenario(
            id, "settled again, then observed",
            "Two threads each settle the promise twice, with a value and with an error. The first "
                + "call decides. A handler that is registered after all four calls is called, "
                + "with the outcome that an early one has received.",
            asking: "What does a call that comes too late change, and which line reads that later?",
            with: (any PromiseAnswer).self
        ) { describeSettledAgain($0, $1.promise) }
    }

    static func goesOnMeanwhile(_ id: String) -> Requirement {
        .scenario(
            id, "other threads continue while a handler runs",
            "A handler for a value, and on another promise one for an error, waits until "
                + "another thread has read the result, has tried to settle the same promise, and "
                + "has registered three handlers on it. None of that may wait for the handler. One "
                + "of the three waits in the same way, for another thread.",
            asking:
                "What is held while handlers are called, even for one kind of caller only?",
            with: (any PromiseAnswer).self
        ) { describeMeanwhile($0, $1.promise) }
    }

    static func lateHandlerWaits(_ id: String) -> Requirement {
        .scenario(
            id, "a late handler that waits",
            "Two promises are settled. One thread registers a handler on each of them, and "
                + "each handler waits until another thread has used the same promise, and has "
                + "registered a handler that waits for another thread.",
            asking: "From which lines are handlers called, and what is held at each of them?",
            with: (any PromiseAnswer).self
        ) { describeLate($0, $1.promise) }
    }

    static func everyHandlerWaits(_ id: String) -> Requirement {
        .scenario(
            id, "every handler waits",
            "Ten handlers for a value, and on another promise ten for an error: early, "
                + "registered inside another one, and late; on the promise itself, in a chain, and "
                + "after a function that throws. Each of them waits until another thread has read "
                + "the result, has tried to settle the promise, and has registered two handlers "
                + "on it.",
            asking:
                "How is this handler different from the ones before it, and which line calls it? "
                + "What is held there?",
            with: (any PromiseAnswer).self
        ) { describeCrowd($0, $1.promise) }
    }

    static func farewellWaits(_ id: String) -> Requirement {
        .scenario(
            id, "a `deinit` that waits",
            "A promise is fulfilled, and another one is rejected. On both, a handler for the value "
                + "and one for an error have each captured an object. When that object is freed, "
                + "its `deinit` waits until another thread has registered a handler on the same "
                + "promise.",
            asking:
                "At which line is the last reference to a handler released, whether it was "
                + "called or not? Is the lock held there?",
            with: (any PromiseAnswer).self
        ) { describeFarewell($0, $1.promise) }.alsoRunOptimized
    }

    static func noStrangersWait(_ id: String) -> Requirement {
        .independence(
            id, "two promises, two threads",
            "One thread settles a promise, and another thread settles a second, unrelated "
                + "promise. Neither may ever wait for the other.",
            asking: "How many locks are there for a thousand promises?",
            with: (any PromiseAnswer).self,
            first: { liveOn($0.promise, 1) }, second: { liveOn($0.promise, 2) })
    }
}

extension Requirement {
    /// For every exercise with a promise class: handlers are called even if no variable holds the
    /// promise.
    static func isHeardThoughDropped(_ id: String) -> Requirement {
        .oneThread(
            id, "no reference to the promise remains",
            "The program keeps no reference to the promise, nor to what `then` has "
                + "returned, but only the functions that settle it. When one of them is called, "
                + "all handlers must be called.",
            asking: "What holds the promise when no variable outside does, and until when?",
            with: (any PromiseAnswer).self
        ) { answer in
            try dropAndSettle(answer.promise, rejecting: false)
            try dropAndSettle(answer.promise, rejecting: true)
        }
    }
}

extension Requirement {
    /// For every exercise with a promise class: the number of handlers has no limit.
    static func hundreds(_ id: String) -> Requirement {
        .unwatched(
            id, "four hundred handlers",
            "Four hundred handlers wait for a value, and on another promise four hundred for an "
                + "error. Each is called, once, in the order of registration.",
            asking: "How many handlers can wait, and which of your lines says so?",
            with: (any PromiseAnswer).self
        ) { answer in
            try crowd(answer.promise, rejecting: false)
            try crowd(answer.promise, rejecting: true)
        }
    }

    /// For every exercise with a promise class: the class is generic.
    static func anyValue(_ id: String) -> Requirement {
        .oneThread(
            id, "any kind of value",
            "Promises of a string, an optional, `Void`, an array and an object are "
                + "fulfilled or rejected. Early and late handlers receive the outcome.",
            asking: "Which of your lines assumes that the value is a number?",
            with: (any PromiseAnswer).self
        ) { answer in
            try convey("text", { answer.pending(String.self) })
            try convey(3, { answer.pending(Int?.self) })
            try convey(nil, { answer.pending(Int?.self) })
            try convey((), { answer.pending(Void.self) })
            try convey([0.5, 0.25], { answer.pending([Double].self) })
            try convey(Thing(), { answer.pending(Thing.self) })
        }
    }

    /// Like `anyValue`, with two threads.
    static func anyValueMeets(_ id: String) -> Requirement {
        .scenario(
            id, "then ∥ resolve, with a string",
            "A promise of a string is fulfilled while another thread registers a handler, "
                + "which is called once.",
            asking: "What protects a promise whose value is not a number?",
            with: (any PromiseAnswer).self
        ) { scenario, answer in
            let promise = answer.pending(String.self)
            let log = Scenario.Log<Call>()
            scenario.thread("subscriber") {
                promise.listen { log.append(Call(who: "handler", what: $0)) }
            }
            scenario.thread("resolver") { promise.resolve("text") }
            scenario.check {
                try log.requireOnce("handler")
                try require(log.entries.allSatisfy { $0.what == "value text" }, or: .wrongValue)
                try require(promise.result() == "value text", or: .disagrees)
            }
        }
    }
}

private func crowd<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    var heard: [Int] = []
    let (promise, resolve, reject) = P.pending()
    let all = Array(1...400)
    for number in all {
        if !rejecting {
            promise.mapping { value in
                heard.append(number)
                return value
            }
        } else if number % 2 == 0 {
            promise.ending { _ in heard.append(number) }
        } else {
            promise.mapping { $0 }.ending { _ in heard.append(number) }
        }
    }
    if rejecting { reject(Sent("no")) } else { resolve(1) }
    let called = Set(heard)
    if let lost = all.first(where: { !called.contains($0) }) {
        throw Fault("lost", "of \(all.count) handlers that wait, handler \(lost) is never called")
    }
    if heard.count > all.count {
        throw Fault("twice", "\(all.count) handlers wait, and \(heard.count) calls were made")
    }
    if let (next, early) = zip(all, heard).first(where: { $0 != $1 }) {
        throw Fault("out of order", "handler \(early) was called before handler \(next)")
    }
}

private final class Thing: CustomStringConvertible {
    let description = "a thing"
}

private func convey<Value>(_ value: Value, _ pending: () -> PendingPromise<Value>) throws {
    let (fulfilled, rejected) = (pending(), pending())
    try convey(fulfilled, "value \(value)") { fulfilled.resolve(value) }
    try convey(rejected, "error 'no'") { rejected.reject(Sent("no")) }
}

private func convey<Value>(
    _ promise: PendingPromise<Value>, _ outcome: String, _ settle: () -> Void
) throws {
    var heard: [String] = []
    promise.listen { heard.append("early \($0)") }
    try require(
        promise.result() == "pending", or: .tooEarly, "it has a result before it is settled")
    settle()
    promise.listen { heard.append("late \($0)") }
    let detail = "of a promise of \(Value.self), received: \(heard.joined(separator: ", "))"
    try require(heard.count >= 2, or: .lost, detail)
    try require(heard == ["early \(outcome)", "late \(outcome)"], or: .wrongValue, detail)
    try require(
        promise.result() == outcome, or: .disagrees,
        "of a promise of \(Value.self), the result is \(promise.result())")
}

private func dropAndSettle<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    var heard: [String] = []
    var functions: [() -> Void] = []
    do {
        let promise = P.working { resolve, reject in
            functions.append { rejecting ? reject(Sent("no")) : resolve(6) }
        }
        promise.mapping { $0 + 1 }
            .mapping {
                heard.append("value \($0)")
                return $0
            }
            .ending { heard.append("error \($0)") }
    }
    functions[0]()
    let expected = rejecting ? "error 'no'" : "value 7"
    try require(
        !heard.isEmpty, or: .lost,
        "'\(expected)' was never received: the promise was freed before it was settled")
    try require(heard == [expected], or: .wrongValue, "received: \(heard)")
}

private func useInside<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    var heard: [String] = []
    var looksInVain = false
    let (promise, resolve, reject) = P.pending()
    func listen(_ who: String, _ work: @escaping () -> Void = {}) {
        promise.mapping { value in
            heard.append("\(who) \(value)")
            work()
            return value
        }
        .ending { if !rejecting { heard.append("\($0)") } }
        promise.ending {
            heard.append("\(who) \($0)")
            work()
        }
    }
    func register(_ who: String) {
        listen(who) {
            guard heard.count < 20 else { return }
            switch promise.outcome {
            case .success(5) where !rejecting: break
            case .failure(Sent("no") as Sent) where rejecting: break
            default: looksInVain = true
            }
            resolve(6)
            reject(Sent("inside"))
            listen("inside \(who)")
        }
    }
    register("early")
    if rejecting { reject(Sent("no")) } else { resolve(5) }
    register("late")
    let outcome = rejecting ? "'no'" : "5"
    let expected = ["early", "late"].flatMap { ["\($0) \(outcome)", "inside \($0) \(outcome)"] }
    let strangers = Set(heard).subtracting(expected)
    try require(strangers.isEmpty, or: .settledTwice, "received: \(heard.joined(separator: ", "))")
    try require(
        !looksInVain, or: .disagrees,
        "inside a handler, the result differs from the outcome that the handler received")
    try requireOrder(heard.sorted(), expected.sorted())
}

private func describeSettledAgain<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let (promise, resolve, reject) = P.pending()
    let log = Scenario.Log<Call>()
    let listen = { (who: String) in
        promise.mapping {
            log.append(Call(who: who, what: "\($0)"))
            return $0
        }
        promise.ending { log.append(Call(who: who, what: "\($0)")) }
    }
    listen("early handler")
    scenario.thread("first") {
        resolve(1)
        reject(Sent("late"))
    }
    scenario.thread("second") {
        reject(Sent("no"))
        resolve(2)
    }
    scenario.check {
        listen("late handler")
        try log.requireOnce("early handler", "late handler")
        let heard = log.entries.map(\.what)
        try require(heard[0] == heard[1], or: .disagrees)
        try require(["1", "'no'"].contains(heard[0]), or: .settledTwice)
    }
    scenario.show(promise)
}

/// Handlers that wait for threads. Each thread waits for a handler to begin, and then does with the
/// promise everything that a thread can do. The first thread also registers such a handler. That one
/// waits for the second thread, because a promise may call it at once, on the first.
private struct WaitingHandlers<P: PromiseUnderTest> {
    private let threads = ["user", "second user"].map {
        (name: $0, begun: DispatchSemaphore(value: 0), used: DispatchSemaphore(value: 0))
    }
    private let fulfilled = P.pending()
    private let rejected = P.pending()

    var promises: (fulfilled: P, rejected: P) { (fulfilled.promise, rejected.promise) }

    func settle() {
        fulfilled.resolve(1)
        rejected.reject(Sent("no"))
    }

    private func wait(_ thread: Int) {
        threads[thread].begun.signal()
        threads[thread].used.wait()
    }

    func registerForValue(_ thread: Int = 0) {
        fulfilled.promise.mapping {
            wait(thread)
            return $0
        }
    }

    func registerForError(_ thread: Int = 0) {
        rejected.promise.ending { _ in wait(thread) }
    }

    func addThreads(to scenario: Scenario) {
        for (index, thread) in threads.enumerated() {
            scenario.thread(thread.name) {
                thread.begun.wait()
                use(fulfilled.promise, fulfilled.resolve, fulfilled.reject)
                if index == 0 { registerForValue(1) }
                thread.used.signal()
                thread.begun.wait()
                use(rejected.promise, rejected.resolve, rejected.reject)
                if index == 0 { registerForError(1) }
                thread.used.signal()
            }
        }
    }

    private func use(_ promise: P, _ resolve: P.Resolve, _ reject: P.Reject) {
        _ = promise.outcome
        resolve(2)
        reject(Sent("late"))
        promise.mapping { $0 }
        promise.ending { _ in }
    }
}

private func describeMeanwhile<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let handlers = WaitingHandlers<P>()
    let (fulfilled, rejected) = handlers.promises
    let log = Scenario.Log<Call>()
    handlers.registerForValue()
    fulfilled.listen("handler", log)
    handlers.registerForError()
    rejected.ending { log.append(Call(who: "handler for errors", what: "\($0)")) }
    scenario.thread("settler") { handlers.settle() }
    handlers.addThreads(to: scenario)
    scenario.check {
        try log.requireOnce("handler", "handler for errors")
        try require(log.entries.map(\.what) == ["1", "'no'"], or: .disagrees)
    }
    scenario.show(fulfilled)
}

private func describeLate<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let handlers = WaitingHandlers<P>()
    handlers.settle()
    scenario.thread("late") {
        handlers.registerForValue()
        handlers.registerForError()
    }
    handlers.addThreads(to: scenario)
    scenario.show(handlers.promises.fulfilled)
}

/// Handlers of a promise that all wait for another thread, which then uses the promise.
private final class Crowd<P: PromiseUnderTest> {
    private static var early: [Int] { [3, 0, 0, 0] }
    private static var late: [Int] { [0, 1, 0] }

    let (promise, resolve, reject) = P.pending()
    private let isRejected: Bool
    private let (begun, used) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private var registered = 0
    private(set) var called = 0

    static var count: Int { (early + late).map { $0 + 1 }.reduce(0, +) }

    init(rejecting isRejected: Bool) {
        self.isRejected = isRejected
        for depth in Self.early { register(depth) }
    }

    func settle() {
        if isRejected { reject(Sent("no")) } else { resolve(1) }
        for depth in Self.late { register(depth) }
    }

    /// Registers a handler that registers another one, and so on, to the given depth.
    private func register(_ depth: Int) {
        let handler = { [unowned self] in
            called += 1
            if depth > 0 { register(depth - 1) }
            begun.signal()
            used.wait()
        }
        let chain = { (promise: P) in
            promise.mapping { value in
                handler()
                return value
            }
        }
        defer { registered += 1 }
        switch (isRejected, registered % 3) {
        case (false, 0): _ = chain(promise)
        case (false, 1): _ = chain(promise.mapping { $0 })
        case (false, _): promise.mapping { _ in throw Sent("thrown") }.ending { _ in handler() }
        case (true, 0): promise.ending { _ in handler() }
        case (true, 1): promise.mapping { $0 }.ending { _ in handler() }
        case (true, _): promise.mapping { $0 }.mapping { $0 }.ending { _ in handler() }
        }
    }

    func useWhileEachWaits() {
        for _ in 1...Self.count {
            begun.wait()
            _ = promise.outcome
            resolve(2)
            promise.mapping { _ in throw Sent("thrown") }
            promise.ending { _ in }
            used.signal()
        }
    }
}

private func describeCrowd<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let crowds = [Crowd<P>(rejecting: false), Crowd(rejecting: true)]
    scenario.thread("settler") { for crowd in crowds { crowd.settle() } }
    scenario.thread("user") { for crowd in crowds { crowd.useWhileEachWaits() } }
    scenario.check {
        try require(crowds.allSatisfy { $0.called >= Crowd<P>.count }, or: .lost)
        try require(crowds.allSatisfy { $0.called == Crowd<P>.count }, or: .twice)
    }
    scenario.show(crowds[0].promise)
}

private func describeFarewell<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let promises = [P.pending(), P.pending()]
    let registered = promises.map { _ in DispatchSemaphore(value: 0) }
    for ((promise, _, _), registered) in zip(promises, registered) {
        let value = Farewell { registered.wait() }
        promise.mapping { number in withExtendedLifetime(value) { number } }
        let error = Farewell { registered.wait() }
        promise.ending { _ in withExtendedLifetime(error) {} }
    }
    let (fulfilled, rejected) = (promises[0], promises[1])
    scenario.thread("settler") {
        fulfilled.resolve(1)
        rejected.reject(Sent("no"))
    }
    scenario.thread("subscriber") {
        for ((promise, _, _), registered) in zip(promises, registered) {
            promise.ending { _ in }
            // Once for each of the two objects.
            registered.signal()
            registered.signal()
        }
    }
    scenario.show(fulfilled.promise)
}

/// An object for a handler to capture, whose `deinit` calls a function.
private final class Farewell {
    private let say: () -> Void

    init(_ say: @escaping () -> Void) {
        self.say = say
    }

    deinit { say() }
}

/// Everything that can happen to a fulfilled and to a rejected promise on one thread.
func liveOn<P: PromiseUnderTest>(_ promise: P.Type, _ value: Int) {
    let (fulfilled, resolve, reject) = P.pending()
    let (rejected, _, rejectOther) = P.pending()
    for promise in [fulfilled, rejected] {
        promise.mapping { $0 + 1 }
        promise.ending { _ in }
    }
    resolve(value)
    reject(Sent("late"))
    rejectOther(Sent("no"))
    for promise in [fulfilled, rejected] {
        promise.mapping { $0 + 1 }
        promise.ending { _ in }
        _ = promise.outcome
    }
}
