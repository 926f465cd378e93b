// 2.2.7: `then` returns a promise, and how that promise settles.

extension APlusCases {
    var nextPromise: [Case] {
        var cases = [stillPending]
        for when in When.allCases {
            cases.append(
                Case("a value returned, \(when.rawValue)") { bench in
                    bench.run(when) { bench.listen($0.promise.mapping { $0 + 1 }) }
                    try bench.expect("value 2", or: .wrongValue)
                })
            for failure in Failure.all {
                cases.append(throwing(failure, when) { $0.mapping { _ in throw failure.error } })
            }
            for length in [1, 2, 10] {
                cases.append(
                    passThrough(length, when) { promise, hear in
                        promise.mapping {
                            hear()
                            return $0
                        }
                    })
            }
            cases.append(throwingInTheMiddle(when))
        }
        return cases
    }

    private var stillPending: Case {
        Case("pending as long as the promise is") { bench in
            let pending = bench.turn { Pending<P>() }
            let next = bench.turn { pending.promise.mapping { $0 } }
            bench.letOthersHaveTheirTurns()
            let early = describe(next.outcome)
            bench.turn { pending.resolve(1) }
            bench.letOthersHaveTheirTurns()
            try require(early == "pending", or: .tooEarly, "it was \(early)")
            let end = describe(next.outcome)
            try require(end == "fulfilled 1", or: .wrongValue, "it is \(end)")
        }
    }

    private func throwingInTheMiddle(_ when: When) -> Case {
        Case("an error thrown in the middle, \(when.rawValue)") { bench in
            bench.run(when) { pending in
                let thrown = pending.promise.mapping { $0 }.mapping { _ in throw Sent("thrown") }
                bench.listen(thrown.mapping { $0 }.mapping { $0 })
            }
            try bench.expect("error 'thrown'", or: .wrongValue)
        }
    }

    private func throwing(
        _ failure: Failure, _ when: When, _ ending: Ending = .fulfilled,
        _ next: @escaping (P) -> P
    ) -> Case {
        Case("\(failure.name) is thrown, \(ending), \(when.rawValue)") { bench in
            bench.run(when, ending) { bench.listen(next($0.promise)) }
            try bench.expect("error \(failure.error)", or: .wrongValue)
        }
    }

    /// Passes the outcome through this many links, none of which has a handler for it.
    private func passThrough(
        _ length: Int, _ when: When, _ ending: Ending = .rejected,
        _ link: @escaping (P, _ hear: @escaping () -> Void) -> P
    ) -> Case {
        Case("\(ending), passing \(length) links, \(when.rawValue)") { bench in
            bench.run(when, ending) { pending in
                var last = pending.promise
                for _ in 1...length {
                    last = link(last) { bench.hear("a function that it was not for") }
                }
                bench.listen(last)
            }
            try bench.expect(ending == .rejected ? "error 'no'" : "value 1", or: .wrongValue)
        }
    }
}

extension APlusCases where P: FlatteningPromise {
    var nextPromiseFlattening: [Case] {
        When.allCases.flatMap { when in
            [
                throwing(Failure.all[0], when) { $0.flatMapping { _ in throw Sent("no") } },
                passThrough(3, when) { promise, hear in
                    promise.flatMapping { _ in
                        hear()
                        return promise
                    }
                },
            ]
        }
    }
}

extension APlusCases where P: RecoveringPromise {
    var nextPromiseRecovering: [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            cases.append(
                Case("a value in the place of an error, \(when.rawValue)") { bench in
                    bench.run(when, .rejected) {
                        bench.listen($0.promise.recovering { _ in 7 })
                    }
                    try bench.expect("value 7", or: .wrongValue)
                })
            for failure in Failure.all {
                cases.append(
                    throwing(failure, when, .rejected) {
                        $0.recovering { _ in throw failure.error }
                    })
            }
            for length in [1, 2, 10] {
                cases.append(
                    passThrough(length, when, .fulfilled) { promise, hear in
                        promise.recovering { _ in
                            hear()
                            return 0
                        }
                    })
            }
        }
        return cases
    }
}
