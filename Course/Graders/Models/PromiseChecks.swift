import Foundation
import RaceLab
import SharedSuite

extension Fault {
    static let tooSoon = "a handler is called before another one has returned"
}

/// The faults that are reported for programs whose results the model does not explain.
extension PromiseModel {
    /// What is wrong with what was seen; `nil` if the model explains it.
    static func fault(
        _ seen: Seen, of program: PromiseProgram, _ rules: PromiseRules
    ) -> Fault? {
        if explains(seen, of: program, rules) { return nil }
        func holds(_ change: (inout Comparison) -> Void) -> Bool {
            var comparison = Comparison()
            change(&comparison)
            return explains(seen, of: program, rules, comparing: comparison)
        }
        let received = "the program is \(program); " + text(of: seen, program)
        if holds({ $0.settlesOnce = false }) {
            return Fault(
                "settles twice", "a later call of `resolve` or `reject` has an effect: \(received)")
        }
        var begun = seen
        begun.order.removeAll { if case .ends = $0 { true } else { false } }
        if received.contains(" had returned"),
            explains(begun, of: program, rules, comparing: Comparison(ends: false))
        {
            return Fault("out of order", "\(Fault.tooSoon): \(received)")
        }
        if holds({ $0.order = false }) {
            return Fault(
                "out of order", "the order of the calls is not one that is promised: \(received)")
        }
        if holds({ $0.waits = false }) {
            return Fault(
                "returns early",
                "the call that settles the promise returns before a waiting handler is called: "
                    + received)
        }
        if holds({ $0.readers = false }) {
            return Fault("result differs", "`result` differs from the outcome: \(received)")
        }
        let calls = seen.received.prefix(program.handlers.count)
        if let twice = calls.indices.first(where: { calls[$0].count > 1 }) {
            let differ = Set(calls[twice]).count > 1
            return Fault(
                differ ? "settles twice" : "twice",
                "the handler \(program.letter(twice)) is called more than once: \(received)")
        }
        if holds({ ($0.order, $0.readers, $0.values) = (false, false, false) }) {
            let strange = calls.joined().contains(PromiseProgram.unknownError)
            return Fault(
                "wrong value",
                (strange
                    ? "a handler receives an error that was never sent: "
                    : "a handler receives something else: ") + received)
        }
        if let lost = lost(seen, of: program, rules) {
            return Fault(
                "lost", "the handler \(program.letter(lost)) is never called: \(received)")
        }
        return Fault("unexpected call", "a handler is called that should not be: \(received)")
    }

    private static func text(of seen: Seen, _ program: PromiseProgram) -> String {
        let received = { "\(program.letter($0)) received \(PromiseProgram.text($1))" }
        var parts: [String] = []
        if seen.order.isEmpty {
            for handler in program.handlers.indices.dropFirst(program.roots) {
                parts += seen.received[handler].map { received(handler, $0) }
            }
        }
        var running: [Int] = []
        for event in seen.order {
            if case .begins(let handler, let outcome) = event {
                let other = running.last.map { " before \(program.letter($0)) had returned" }
                parts.append(received(handler, outcome) + (other ?? ""))
                running.append(handler)
            }
            if case .ends(let handler) = event { running.removeAll { $0 == handler } }
        }
        let reads = seen.received.dropFirst(program.handlers.count).joined()
        parts += reads.map { "`result` was \(PromiseProgram.text($0))" }
        if let final = seen.final {
            parts.append("in the end, `result` is \(PromiseProgram.text(final))")
        }
        return parts.isEmpty ? "no handler was called" : parts.joined(separator: ", ")
    }
}

/// Makes requirements from the model and its programs.
struct PromiseChecks: Sendable {
    var rules: PromiseRules
    /// Whether a settled promise has freed all handlers.
    var freesHandlers = true
    /// Whether handlers are called while no lock is held.
    var callsOutside = false

    /// The promise of exercises 7 and 12.
    static let ofOrder = PromiseChecks(
        rules: PromiseRules(takesTurns: true, chainsInTurn: true, ordersThreads: true),
        callsOutside: true)

    // MARK: One thread

    func inSequence<Value>(
        _ all: [PromiseProgram], _ answer: any PromiseAnswer,
        _ conversion: Conversion<Value> = .numbers
    ) -> Programs {
        Programs(count: all.count) { number in
            let program = all[number]
            let seen = run(program, answer, conversion)
            let fault = PromiseModel.fault(seen, of: program, rules)
            guard let fault, let values = conversion.values else { return fault }
            return Fault(fault.reason, "\(fault.detail); values are of type \(values)")
        }
    }

    /// Whether everything is freed.
    func memory(_ all: [PromiseProgram], _ answer: any PromiseAnswer) -> Programs {
        Programs(count: all.count) { number in
            let (program, counter) = (all[number], PromiseRun<Int>.Counter())
            let promises = Array(program.handlers.indices)
            var fault: Fault?
            _ = run(program, answer, .numbers, counter) { run in
                if freesHandlers && run.isSettled && counter.living > 0 {
                    fault = PromiseChecks.keptAlive(program)
                } else if run.keepsAlive(dropping: promises, program.reached) {
                    fault = Fault(
                        "kept alive",
                        "the program has dropped a promise that waits for none of those that are "
                            + "left, and it, or what its handlers have captured, is still alive: "
                            + "the program is \(program)")
                }
            }
            guard freesHandlers, fault == nil else { return fault }
            _ = run(program, answer, .numbers) { run in
                // None of them waits for another one.
                guard run.isOver, run.keepsAlive(dropping: promises.reversed(), { Set($0) })
                else { return }
                fault = Fault(
                    "kept alive",
                    "everything is settled, and the program has dropped a promise, which is still "
                        + "alive: the program is \(program)")
            }
            return fault
        }
    }

    /// Runs a program with one thread.
    ///
    /// - Parameter look: called before everything is released.
    private func run<Value>(
        _ program: PromiseProgram, _ answer: any PromiseAnswer, _ conversion: Conversion<Value>,
        _ counter: PromiseRun<Value>.Counter = PromiseRun<Value>.Counter(),
        look: (PromiseRun<Value>) -> Void = { _ in }
    ) -> PromiseModel.Seen {
        var seen = PromiseModel.Seen(of: program)
        let log = Scenario.Log<Int>()
        let run = PromiseRun(program, answer, conversion, rules, counter: counter) { event in
            seen.add(event, program)
            guard case .begins(let handler, let outcome) = event else { return }
            log.append(handler, "\(program.letter(handler)): \(PromiseProgram.text(outcome))")
        }
        run.runInSequence()
        look(run)
        run.letGo()
        return seen
    }

    // MARK: Several threads

    /// - Parameter watchesMemory: whether the promise must have released what its handlers have
    ///   captured.
    func inThreads<Value>(
        _ all: [PromiseProgram], _ answer: any PromiseAnswer,
        _ conversion: Conversion<Value> = .numbers, watchesMemory: Bool = false
    ) -> Programs {
        let known = Known(rules)
        var programs = Programs(count: all.count) { number, scenario in
            let counter = PromiseRun<Value>.Counter()
            describe(all[number], scenario, answer, conversion, known, counter)
            guard watchesMemory else { return }
            scenario.check {
                if counter.living > 0 { throw PromiseChecks.keptAlive(all[number]) }
            }
        }
        programs.forbidsCallsUnderLocks = callsOutside
        return programs
    }

    private func describe<Value>(
        _ program: PromiseProgram, _ scenario: Scenario, _ answer: any PromiseAnswer,
        _ conversion: Conversion<Value>, _ known: Known, _ counter: PromiseRun<Value>.Counter
    ) {
        let order = Scenario.Log<PromiseEvent>()
        let received = (0..<(program.handlers.count + program.readers)).map { _ in
            Scenario.Log<PromiseProgram.Outcome?>()
        }
        let run = PromiseRun(program, answer, conversion, rules, counter: counter) { event in
            switch event {
            case .call: break
            case .begins(let handler, let outcome):
                let text = { "\(program.letter(handler)): \(PromiseProgram.text(outcome))" }
                if rules.ordersThreads {
                    order.append(event, text())
                } else {
                    received[handler].append(outcome, text())
                }
            case .ends(let handler):
                if rules.ordersThreads {
                    order.append(event, "\(program.letter(handler)) returns")
                }
            case .reads(let reader, let outcome):
                received[program.slot(of: reader)].append(
                    outcome, "result: \(PromiseProgram.text(outcome))")
            }
        }
        run.runBefore()
        for thread in program.threads.indices {
            scenario.thread(["A", "B", "C"][thread]) { run.run(thread) }
        }
        for title in known.titles(of: run.root) {
            scenario.state(title) {
                run.root?.gradedFields.first { $0.title == title }?.value ?? ""
            }
        }
        scenario.check {
            var seen = PromiseModel.Seen(received: received.map(\.entries))
            for event in order.entries { seen.add(event, program) }
            seen.final = run.final
            if let fault = run.standstill.fault ?? known.fault(seen, program) { throw fault }
        }
    }

    private static func keptAlive(_ program: PromiseProgram) -> Fault {
        Fault(
            "kept alive",
            "the promise is settled, and still holds what a handler has captured: the program is "
                + "\(program)")
    }

    /// Remembers what the model has explained, because many interleavings look the same.
    private final class Known: @unchecked Sendable {
        private let rules: PromiseRules
        private var program: PromiseProgram?
        private var faults: [PromiseModel.Seen: Fault?] = [:]
        private var titles: [String]?

        func titles<Value>(of promise: (any Handle<Value>)?) -> [String] {
            if titles == nil { titles = promise?.gradedFields.map { $0.title } }
            return titles ?? []
        }

        init(_ rules: PromiseRules) {
            self.rules = rules
        }

        func fault(_ seen: PromiseModel.Seen, _ program: PromiseProgram) -> Fault? {
            if self.program != program { (self.program, faults) = (program, [:]) }
            if let known = faults[seen] { return known }
            let fault = PromiseModel.fault(seen, of: program, rules)
            faults[seen] = .some(fault)
            return fault
        }
    }

    // MARK: Nothing of the program's is called or freed under a lock

    func withProbes(_ all: [PromiseProgram], _ answer: any PromiseAnswer) -> Programs {
        // Each program runs twice: it keeps the promises that it does not use, or does not.
        let run = { (number: Int, probe: Probe) in
            self.run(all[number / 2], answer, probe, keepsLinks: number % 2 == 0)
        }
        return Programs(
            count: 2 * all.count,
            describe: { number, scenario in
                let probe = Probe()
                scenario.thread("main") { run(number, probe) }
                scenario.thread("another thread") { probe.help() }
            },
            runAlone: { number in
                let probe = Probe()
                let helper = Thread { probe.help() }
                helper.start()
                run(number, probe)
                return nil
            })
    }

    private func run(
        _ program: PromiseProgram, _ answer: any PromiseAnswer, _ probe: Probe, keepsLinks: Bool
    ) {
        let run = PromiseRun(
            program, answer, .objects(probe), rules, probe: probe, keepsLinks: keepsLinks
        ) { _ in }
        let (root, functions) = (run.root, run.rootFunctions)
        probe.use = {
            let isSettled = root?.gradedResult != nil
            for promise in [root].compactMap({ $0 }) + run.links {
                _ = promise.gradedResult
                _ = promise.gradedThen { $0 }
                _ = promise.gradedThen { _ -> Int in throw Sent("late") }
                promise.gradedError { _ in }
            }
            guard isSettled else { return }
            functions.resolve(5)
            functions.reject(-5)
        }
        run.runInSequence()
        probe.use = {}
        run.letGo()
        probe.end()
    }
}

extension PromiseModel.Seen {
    init(of program: PromiseProgram) {
        self.init(
            received: Array(repeating: [], count: program.handlers.count + program.readers))
    }

    mutating func add(_ event: PromiseEvent, _ program: PromiseProgram) {
        order.append(event)
        switch event {
        case .call, .ends: break
        case .begins(let handler, let outcome): received[handler].append(outcome)
        case .reads(let reader, let outcome):
            received[program.slot(of: reader)].append(outcome)
        }
    }
}
