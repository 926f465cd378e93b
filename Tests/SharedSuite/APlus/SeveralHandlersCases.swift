// 2.2.6: `then` may be called any number of times on one promise.

extension APlusCases {
    var severalHandlers: [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            for ending in Ending.allCases {
                cases += [
                    inOrder(["first", "second"], when, ending),
                    inOrder(["first", "second", "third", "fourth", "fifth"], when, ending),
                    inTwoTurns(when, ending),
                    insideOneAnother(when, ending),
                    branches(when, ending),
                ]
            }
            cases.append(oneThrows(when))
        }
        return cases
    }

    /// Stage 1 has one slot: a handler that is registered while the promise is pending replaces the
    /// one before. Once the promise is settled, handlers are called at once and need no slot.
    private func failing(_ when: When) -> [Subject: Reason] {
        when == .already ? [:] : [.naive: .replaced]
    }

    private func inOrder(_ names: [String], _ when: When, _ ending: Ending) -> Case {
        Case(
            "\(names.count) handlers in order, \(ending), \(when.rawValue)", failing: failing(when)
        ) { bench in
            bench.run(when, ending) { pending in
                for name in names {
                    bench.register(pending.promise, ending) { bench.hear(name) }
                }
            }
            try bench.expectEach(names)
        }
    }

    /// Two are registered in one turn, and two in the next, before or after the settlement.
    private func inTwoTurns(_ when: When, _ ending: Ending) -> Case {
        Case(
            "handlers of two turns in order, \(ending), \(when.rawValue)", failing: failing(when)
        ) { bench in
            let pending = bench.turn { Pending<P>() }
            let register = { (names: [String]) in
                for name in names {
                    bench.register(pending.promise, ending) { bench.hear(name) }
                }
            }
            if when == .already { bench.turn { pending.settle(ending) } }
            bench.turn { register(["first", "second"]) }
            if when == .atOnce { bench.turn { pending.settle(ending) } }
            bench.turn { register(["third", "fourth"]) }
            if when == .later { bench.turn { pending.settle(ending) } }
            bench.letOthersHaveTheirTurns()
            try bench.expectEach(["first", "second", "third", "fourth"])
        }
    }

    /// The first handler registers another. The expected order is that of the calls of `then`,
    /// which differs if a handler is called before `then` returns.
    private func insideOneAnother(_ when: When, _ ending: Ending) -> Case {
        Case(
            "a handler registered in one, \(ending), \(when.rawValue)", failing: failing(when)
        ) { bench in
            var calls: [String] = []
            bench.run(when, ending) { pending in
                calls.append("outer")
                bench.register(pending.promise, ending) {
                    bench.hear("outer")
                    calls.append("inner")
                    bench.register(pending.promise, ending) { bench.hear("inner") }
                }
                calls.append("sibling")
                bench.register(pending.promise, ending) { bench.hear("sibling") }
            }
            try bench.expectEach(calls)
        }
    }

    /// Each `then` begins a separate chain.
    private func branches(_ when: When, _ ending: Ending) -> Case {
        Case("independent chains, \(ending), \(when.rawValue)", failing: failing(when)) { bench in
            bench.run(when, ending) { pending in
                bench.listen(pending.promise.mapping { $0 + 1 }, "first: ")
                bench.listen(pending.promise.mapping { $0 + 2 }, "second: ")
            }
            let expected =
                ending == .fulfilled
                ? ["first: value 2", "second: value 3"]
                : ["first: error 'no'", "second: error 'no'"]
            try bench.expectEach(expected)
        }
    }

    /// The other handlers are called even if one throws.
    private func oneThrows(_ when: When) -> Case {
        Case("the first of three throws, \(when.rawValue)", failing: failing(when)) { bench in
            bench.run(when) { pending in
                bench.register(pending.promise, .fulfilled) {
                    bench.hear("first")
                    throw Sent("thrown")
                }
                for name in ["second", "third"] {
                    bench.register(pending.promise, .fulfilled) { bench.hear(name) }
                }
            }
            try bench.expectEach(["first", "second", "third"])
        }
    }
}

extension Bench {
    /// Each was called, once, in this order.
    fileprivate func expectEach(_ names: [String]) throws {
        let missing = names.filter { !heard.contains($0) }
        let lastOnly = !missing.isEmpty && heard.contains(names[names.count - 1])
        try expect(
            names, or: lastOnly ? .replaced : missing.isEmpty ? .outOfOrder : .lost)
    }
}
