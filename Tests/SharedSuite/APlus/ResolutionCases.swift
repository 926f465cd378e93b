// 2.3: resolving a promise with a value or a promise.

extension APlusCases {
    private static var values: [Int] { [1, 0, -1, .max, .min] }

    // MARK: 2.3.4

    var plainValue: [Case] {
        plainValue("returned", .fulfilled) { promise, value in promise.mapping { _ in value } }
    }

    private func plainValue(
        _ how: String, _ ending: Ending, _ next: @escaping (P, Int) -> P
    ) -> [Case] {
        When.allCases.flatMap { when in
            Self.values.map { value in
                Case("\(value) \(how), \(when.rawValue)") { bench in
                    var last: P!
                    bench.run(when, ending) {
                        last = next($0.promise, value)
                        bench.listen(last)
                    }
                    try bench.expect("value \(value)", or: .wrongValue)
                    let kept = describe(last.outcome)
                    try require(kept == "fulfilled \(value)", or: .disagrees, "it is \(kept)")
                }
            }
        }
    }
}

extension APlusCases where P: FlatteningPromise {
    // MARK: 2.3.1

    var returnsItself: [Case] {
        When.allCases.flatMap { when in
            // If the handler runs before `then` has returned, the promise that it should return
            // does not exist yet.
            let failing = Subject.failing(
                .tooEarly, when == .already ? Subject.callingEarly : [])
            return [
                itself("`then` returns itself", when, .fulfilled, failing) { promise, itself in
                    promise.flatMapping { _ in try itself() }
                },
                itself("far down it returns itself", when, .fulfilled, failing) {
                    promise, itself in
                    promise.mapping { $0 }.flatMapping { _ in try itself() }
                },
            ]
        }
    }

    private func itself(
        _ what: String, _ when: When, _ ending: Ending, _ failing: [Subject: Reason],
        _ next: @escaping (P, _ itself: @escaping () throws -> P) -> P
    ) -> Case {
        Case("\(what), \(when.rawValue)", failing: failing) { bench in
            var successor: P?
            var isTooEarly = false
            bench.run(when, ending) { pending in
                successor = next(pending.promise) {
                    isTooEarly = successor == nil
                    guard let successor else { throw Sent("too early") }
                    return successor
                }
                bench.listen(successor!)
            }
            // Breaks a reference cycle.
            defer { successor = nil }
            try require(
                !isTooEarly, or: .tooEarly, "the handler is called before `then` has returned")
            try require(
                !bench.heard.isEmpty, or: .waitsForEver, "the promise waits for itself")
            try bench.expect("error returnedItself", or: .wrongValue)
        }
    }

    // MARK: 2.3.2

    var adoptsPromise: [Case] {
        adopts("returned", .fulfilled) { promise, inner in promise.flatMapping { _ in inner } }
            + When.allCases.flatMap { when in
                [staysPending(when), adoptedTwice(when)] + Ending.allCases.map { nested(when, $0) }
            }
    }

    /// Combines the moments at which the promise, and the returned promise, are settled.
    private func adopts(
        _ how: String, _ outerEnding: Ending, _ next: @escaping (P, P) -> P
    ) -> [Case] {
        var cases: [Case] = []
        for outer in When.allCases {
            for inner in When.allCases {
                for ending in Ending.allCases {
                    cases.append(
                        Case("\(ending) \(inner.rawValue), \(how) when \(outer.rawValue)") {
                            bench in
                            let promise = bench.turn { Pending<P>() }
                            if inner == .already { bench.turn { promise.settle(ending, 2) } }
                            bench.run(outer) {
                                $0.settle(outerEnding)
                                if inner == .atOnce { promise.settle(ending, 2) }
                            } _: {
                                bench.listen(next($0.promise, promise.promise))
                            }
                            let early = bench.heard
                            if inner == .later {
                                try require(early.isEmpty, or: .tooEarly, "received \(early)")
                                bench.turn { promise.settle(ending, 2) }
                                bench.letOthersHaveTheirTurns()
                            }
                            try bench.expect(
                                ending == .fulfilled ? "value 2" : "error 'no'", or: .wrongValue)
                        })
                }
            }
        }
        return cases
    }

    private func staysPending(_ when: When) -> Case {
        Case("pending as long as what is returned, \(when.rawValue)") { bench in
            let inner = bench.turn { Pending<P>() }
            var next: P!
            bench.run(when) {
                next = $0.promise.flatMapping { _ in inner.promise }
                bench.listen(next)
            }
            let early = describe(next.outcome)
            try require(early == "pending", or: .tooEarly, "it is \(early)")
            bench.turn { inner.settle(.fulfilled, 2) }
            bench.letOthersHaveTheirTurns()
            try bench.expect("value 2", or: .wrongValue)
        }
    }

    private func adoptedTwice(_ when: When) -> Case {
        Case("adopted by two promises, \(when.rawValue)") { bench in
            let inner = bench.turn { Pending<P>() }
            bench.run(when) {
                bench.listen($0.promise.flatMapping { _ in inner.promise }, "first: ")
                bench.listen($0.promise.flatMapping { _ in inner.promise }, "second: ")
            }
            bench.turn { inner.settle(.fulfilled, 2) }
            bench.letOthersHaveTheirTurns()
            try bench.expect(["first: value 2", "second: value 2"], or: .wrongValue)
        }
    }

    /// The returned promise has itself adopted another promise.
    private func nested(_ when: When, _ ending: Ending) -> Case {
        Case("\(ending), two promises deep, \(when.rawValue)") { bench in
            let (middle, inner) = bench.turn { (Pending<P>(), Pending<P>()) }
            bench.run(when) {
                bench.listen(
                    $0.promise.flatMapping { _ in
                        middle.promise.flatMapping { _ in inner.promise }
                    })
            }
            bench.turn { inner.settle(ending, 2) }
            bench.letOthersHaveTheirTurns()
            try bench.expect([], or: .tooEarly)
            bench.turn { middle.settle(.fulfilled) }
            bench.letOthersHaveTheirTurns()
            try bench.expect(ending == .fulfilled ? "value 2" : "error 'no'", or: .wrongValue)
        }
    }
}

// MARK: - With a handler for rejections

extension APlusCases where P: RecoveringPromise {
    var recoveryReturnsItself: [Case] {
        When.allCases.map { when in
            itself("`recover` returns itself", when, .rejected, [:]) { promise, itself in
                promise.flatRecovering { _ in try itself() }
            }
        }
    }

    var recoveryAdoptsPromise: [Case] {
        adopts("from `recover`", .rejected) { promise, inner in
            promise.flatRecovering { _ in inner }
        }
    }

    var recoveryWithPlainValue: [Case] {
        plainValue("from `recover`", .rejected) { promise, value in
            promise.recovering { _ in value }
        }
    }
}
