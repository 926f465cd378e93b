// 2.2.2 to 2.2.6: which handlers are called, when, with what, and how often.

extension APlusCases {
    // MARK: 2.2.2

    var valueHandler: [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            for value in [1, 0, -1] {
                cases.append(
                    Case("the value \(value) arrives, \(when.rawValue)") { bench in
                        bench.run(when, .fulfilled, value) { self.onValue($0, bench) }
                        try bench.expect("value \(value)", or: .wrongValue)
                    })
            }
            cases.append(
                Case("not called when rejected, \(when.rawValue)") { bench in
                    bench.run(when, .rejected) { self.onValue($0, bench) }
                    try bench.expect([], or: .bothKinds)
                })
        }
        return cases + notBefore(.fulfilled, onValue) + once(.fulfilled, onValue)
    }

    private func onValue(_ pending: Pending<P>, _ bench: Bench<P>) {
        pending.promise.mapping { value in
            bench.hear("value \(value)")
            return value
        }
    }

    // MARK: 2.2.3

    var errorHandler: [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            for error in Failure.all {
                cases.append(
                    Case("\(error.name) arrives, \(when.rawValue)") { bench in
                        bench.run(when) {
                            $0.reject(error.error)
                        } _: {
                            self.onError($0, bench)
                        }
                        try bench.expect("error \(error.error)", or: .wrongValue)
                    })
            }
            cases.append(
                Case("not called when fulfilled, \(when.rawValue)") { bench in
                    bench.run(when, .fulfilled) { self.onError($0, bench) }
                    try bench.expect([], or: .bothKinds)
                })
        }
        return cases + notBefore(.rejected, onError) + once(.rejected, onError)
    }

    private func onError(_ pending: Pending<P>, _ bench: Bench<P>) {
        pending.promise.ending { bench.hear("error \($0)") }
    }

    // MARK: 2.2.2 and 2.2.3

    private typealias Registering = (Pending<P>, Bench<P>) -> Void

    private func notBefore(_ ending: Ending, _ register: @escaping Registering) -> [Case] {
        let never = Case("not called before it is \(ending)") { bench in
            let pending = bench.turn { Pending<P>() }
            bench.turn { register(pending, bench) }
            bench.letOthersHaveTheirTurns()
            let early = bench.heard
            bench.turn { pending.settle(ending) }
            bench.letOthersHaveTheirTurns()
            try require(early.isEmpty, or: .tooEarly, "received \(early) before it was settled")
            try require(bench.heard.count == 1, or: .lost, "received nothing")
        }
        return [never]
    }

    private func once(_ ending: Ending, _ register: @escaping Registering) -> [Case] {
        When.allCases.map { when in
            // Stage 1 calls its handler again; but a handler that is registered after both calls runs
            // only once.
            let failing: [Subject: Reason] = when == .already ? [:] : [.naive: .twice]
            return Case("once, though \(ending) twice, \(when.rawValue)", failing: failing) {
                bench in
                bench.run(when) {
                    $0.settle(ending)
                    $0.settle(ending)
                } _: {
                    register($0, bench)
                }
                try bench.expect(ending == .fulfilled ? "value 1" : "error 'no'", or: .twice)
            }
        }
    }

    // MARK: 2.2.4

    /// No user function may be on the stack when a handler is called: neither the code that has
    /// registered it, nor the code that settles the promise, nor another handler.
    var cleanStack: [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            for ending in Ending.allCases {
                cases.append(
                    cleanStackCase("a handler", when, ending) { bench, pending in
                        bench.register(pending.promise, ending) { bench.hear("handler") }
                    })
                cases.append(
                    cleanStackCase("a handler registered in one", when, ending) { bench, pending in
                        bench.register(pending.promise, ending) {
                            bench.userCode {
                                bench.register(pending.promise, ending) { bench.hear("handler") }
                            }
                        }
                    })
                cases.append(
                    cleanStackCase("a promise settled in one", when, ending) { bench, pending in
                        let other = Pending<P>()
                        bench.register(other.promise, ending) { bench.hear("handler") }
                        bench.register(pending.promise, ending) {
                            bench.userCode { other.settle(ending) }
                        }
                    })
            }
        }
        return cases
    }

    private func cleanStackCase(
        _ what: String, _ when: When, _ ending: Ending,
        _ use: @escaping (Bench<P>, Pending<P>) -> Void
    ) -> Case {
        // Stages 1 and 2 have no queue: handlers run inside the call that provides the outcome.
        Case(
            "\(what), \(ending), \(when.rawValue)",
            failing: Subject.failing(.tooEarly, [.naive] + Subject.callingEarly)
        ) { bench in
            bench.run(when, ending) { use(bench, $0) }
            try bench.expect("handler", or: .lost)
            try require(
                bench.calledTooEarly.isEmpty, or: .tooEarly,
                "it was called while a function of the user was on the stack")
        }
    }
}

/// Errors of different kinds.
struct Failure {
    private enum Enumeration: Error { case first }

    private final class Object: Error, CustomStringConvertible {
        let description = "object"
    }

    let name: String
    let error: any Error

    static var all: [Failure] {
        [
            Failure(name: "a structure", error: Sent("no")),
            Failure(name: "a case of an enumeration", error: Enumeration.first),
            Failure(name: "an object", error: Object()),
        ]
    }
}
