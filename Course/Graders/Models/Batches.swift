import RaceLab

/// Programs with one thread, many of them in one exploration, which has one interleaving.
struct Batches {
    private static let size = 50

    let programs: Programs
    let run: (Int) -> Fault?

    private static var options: Exploration.Options {
        var options = Requirement.optionsOfPrograms
        options.marksPointOfNoReturn = false
        options.maximumSteps = 100_000
        return options
    }

    /// One exploration for each batch, up to the first with a failure.
    ///
    /// - Returns: the program that fails, and the failure; `nil` if none fails.
    func firstFailure(_ requirement: Requirement, isOptimized: Bool) -> Failure? {
        let batches = stride(from: 0, to: programs.watched, by: Batches.size).map {
            $0..<min(programs.watched, $0 + Batches.size)
        }
        for batch in batches {
            let running = TakingTurns(batch.lowerBound)
            let exploration = explore(options: Batches.options) { describe(batch, running, $0) }
            if var failure = Failure(ofOneThread: exploration) {
                failure.program = running.access { $0 }
                return isOptimized ? failure : alone(failure, requirement)
            }
        }
        return nil
    }

    private func describe(
        _ batch: Range<Int>, _ running: TakingTurns<Int>, _ scenario: Scenario
    ) {
        let log = Scenario.Log<Int>()
        let fault = TakingTurns<Fault?>(nil)
        scenario.thread("main") {
            for number in batch {
                Patience.begin(program: number)
                running.access { $0 = number }
                let found = run(number) ?? faultOfCalls()
                log.append(number, "a program ends")
                fault.access { $0 = found }
                if found != nil { return }
            }
        }
        scenario.check { if let fault = fault.access({ $0 }) { throw fault } }
    }

    private func faultOfCalls() -> Fault? {
        programs.forbidsCallsUnderLocks ? Fault.calledUnderALock : nil
    }

    /// The failure of the same program without the others, which has a short table.
    private func alone(_ failure: Failure, _ requirement: Requirement) -> Failure {
        let verdict = requirement.verdict(of: failure.program!, programs, isolated: false)
        if case .fails(let alone) = verdict { return alone }
        return failure.afterOthersOnly
    }
}
