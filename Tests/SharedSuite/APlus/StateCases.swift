// 2.1: a settled promise keeps its outcome.

extension APlusCases {
    /// 2.1.2 and 2.1.3: a second settlement, with either outcome, in the same turn or in a later
    /// one. The handlers receive the first outcome only, and the promise keeps it.
    func settlingAgain(after ending: Ending) -> [Case] {
        var cases: [Case] = []
        for when in When.allCases {
            for again in Ending.allCases {
                for inSameTurn in [true, false] {
                    let turn = inSameTurn ? "at once" : "later"
                    cases.append(
                        // In Stage 1 the last call wins.
                        Case(
                            "\(ending), \(when.rawValue), then \(again) \(turn)",
                            failing: [.naive: .settledTwice]
                        ) { bench in
                            try settle(ending, when, again, inSameTurn: inSameTurn, bench)
                        })
                }
            }
        }
        return cases
    }

    private func settle(
        _ ending: Ending, _ when: When, _ again: Ending, inSameTurn: Bool, _ bench: Bench<P>
    ) throws {
        let settleAgain = { (pending: Pending<P>) in
            switch again {
            case .fulfilled: pending.resolve(2)
            case .rejected: pending.reject(Sent("too late"))
            }
        }
        var pending: Pending<P>!
        bench.run(when) {
            $0.settle(ending)
            if inSameTurn { settleAgain($0) }
        } _: {
            pending = $0
            bench.listen($0.promise)
        }
        if !inSameTurn {
            bench.turn { settleAgain(pending) }
            bench.letOthersHaveTheirTurns()
        }
        let heard = ending == .fulfilled ? "value 1" : "error 'no'"
        try bench.expect(heard, or: .settledTwice)
        let kept = describe(pending.promise.outcome)
        let first = ending == .fulfilled ? "fulfilled 1" : "rejected 'no'"
        try require(kept == first, or: .settledTwice, "\(first), and later \(kept)")
    }
}
