import Foundation
import RaceLab
import SharedSuite
import Synchronization

/// Programs that a requirement runs, the smallest first.
struct Programs {
    var count: Int
    /// One program, with a check of what was seen.
    var describe: (Int, Scenario) -> Void
    /// Runs one program without the lab, for programs whose interleaving does not matter. There are
    /// many of them, and one that fails, or does not end, is explored alone; so are those of an
    /// answer that only waits, if some are watched.
    var runAlone: ((Int) -> Fault?)?
    /// How many of the programs that can run without the lab run in it nevertheless, because it
    /// finds deadlocks and calls under a lock. They are the smallest.
    var watched = 0
    /// Whether nothing that makes a note may run while a lock is held.
    var forbidsCallsUnderLocks = false
    var runs = Programs.runsOfAll

    /// The limits. None of them is a time.
    static let runsOfOne = 4_000
    static let runsOfAll = 20_000

    /// How many runs the next program may have. No program goes without, however many the earlier
    /// ones have used.
    static func share(of left: Int, among programs: Int) -> Int {
        min(runsOfOne, max(16, min(400, 6_000 / programs), 8 * left / programs))
    }
}

extension Programs {
    func add(_ number: Int, to scenario: Scenario) {
        describe(number, scenario)
        if forbidsCallsUnderLocks { scenario.forbidCallsUnderLocks() }
    }

    /// Programs with one thread, which can run without the lab.
    init(count: Int, runAlone run: @escaping (Int) -> Fault?) {
        self.init(count: count) { number, scenario in
            let (log, fault) = (Scenario.Log<Int>(), TakingTurns<Fault?>(nil))
            scenario.thread("main") {
                let found = run(number)
                // Shows whether a lock is still held.
                log.append(number, "the program ends")
                fault.access { $0 = found }
            }
            scenario.check { if let fault = fault.access({ $0 }) { throw fault } }
        }
        runAlone = run
    }

    /// Several lists of the same kind, one after another.
    init(joining all: [Programs]) {
        let places = all.flatMap { list in (0..<list.count).map { (list, $0) } }
        self = all[0]
        count = places.count
        describe = { places[$0].0.describe(places[$0].1, $1) }
        if runAlone != nil { runAlone = { places[$0].0.runAlone?(places[$0].1) } }
    }
}

extension Requirement {
    /// The programs of a requirement are numbered: `E07.2/135`.
    func only(_ program: Int) -> Requirement {
        with(\.program, program).with(\.id, id.with(program))
    }

    /// Explores the programs up to the first that fails.
    func verdict(of programs: Programs, isolated: Bool, isOptimized: Bool) -> Verdict {
        if let program { return verdict(of: program, programs, isolated: isolated) }
        let numbers = 0..<(programs.runAlone != nil ? programs.watched : programs.count)
        let verdict = verdictOfEach(numbers, programs, isOptimized: isOptimized)
        guard case .holds = verdict, let run = programs.runAlone else { return verdict }
        return verdictInARow(programs, run, isOptimized: isOptimized)
    }

    static var optionsOfPrograms: Exploration.Options {
        var options = Requirement.options
        options.maximumInterleavings = Programs.runsOfOne
        return options
    }

    private func verdictOfEach(
        _ numbers: Range<Int>, _ programs: Programs, isOptimized: Bool
    ) -> Verdict {
        var options = Requirement.optionsOfPrograms
        options.stopsAtFirstFailure = true
        let hasOneThread = programs.runAlone != nil
        var (explored, runs) = (0, 0)
        var isComplete = true
        // How many programs may leave too much to explore if waits end at any time.
        var endless = 8
        for number in numbers {
            Patience.begin(program: number)
            options.maximumRuns = Programs.share(
                of: programs.runs - runs, among: programs.count - number)
            let describe = { programs.add(number, to: $0) }
            options.timeOutsFireAtAnyTime = endless > 0
            let exploration = exploration(&options, ifBounded: true, describe)
            if !options.timeOutsFireAtAnyTime { endless -= 1 }
            explored += exploration.explored
            runs += exploration.explored + exploration.redundant
            if var failure = Failure(exploration, hasOneThread: hasOneThread) {
                failure.program = number
                if isOptimized { return .fails(failure) }
                // Explored again for a table, and up to the last interleaving.
                let again = verdict(
                    of: number, programs, isolated: false,
                    timeOutsFireAtAnyTime: options.timeOutsFireAtAnyTime)
                if case .fails = again { return again }
                return .fails(hasOneThread ? failure.afterOthersOnly : .doesNotRecur(in: number))
            }
            if exploration.coverage != .all { isComplete = false }
        }
        return .holds(
            explored: explored, of: isComplete ? .all : .first(explored), programs: programs.count)
    }

    /// Runs the programs one after another, and explores each that does not end soon. If an answer
    /// only waits all the time, those that are left are explored: in the lab, waits take no time.
    private func verdictInARow(
        _ programs: Programs, _ run: @escaping (Int) -> Fault?, isOptimized: Bool
    ) -> Verdict {
        let row = ProgramsInARow(programs.watched..<programs.count, run)
        let mayBeExplored = !isOptimized && programs.watched > 0
        while let look = row.nextLook() {
            if look.onlyWaits, mayBeExplored { row.stop() }
            guard let slow = look.slow else { continue }
            let alone = verdict(of: slow, programs, isolated: false)
            if case .fails = alone { return alone }
        }
        let (number, found) = (row.number, row.fault)
        guard let fault = found else {
            let rest = verdictOfEach(
                number..<programs.count, programs, isOptimized: isOptimized)
            if case .fails = rest { return rest }
            return .holds(explored: nil, of: .all, programs: programs.count)
        }
        let failure = Failure(reason: fault.reason, detail: fault.detail, program: number)
        if isOptimized { return .fails(failure) }
        switch verdict(of: number, programs, isolated: false) {
        case .fails(let alone): return .fails(alone.reason == fault.reason ? alone : failure)
        case .holds: return .fails(failure.afterOthersOnly)
        }
    }

    private func verdict(
        of program: Int, _ programs: Programs, isolated: Bool, timeOutsFireAtAnyTime: Bool = true
    ) -> Verdict {
        var options = Requirement.optionsOfPrograms
        options.timeOutsFireAtAnyTime = timeOutsFireAtAnyTime
        let verdict = explored(&options, isolated: isolated) { programs.add(program, to: $0) }
        guard case .fails(var failure) = verdict else { return verdict }
        failure.program = program
        return .fails(failure)
    }
}
