import CRaceLab
import Canaries
import Foundation

// Messages about a run that did not complete, or that ends the process.

extension rl_run {
    /// Why no thread can continue. `names`, here and below, are the names of all threads of the
    /// run.
    ///
    /// - Parameter judge: what judges the run, and may wait.
    func deadlock(names: [String], judge: String) -> String {
        typealias Waiting = Exploration.Trace.Waiting
        let threads = Waiting.all(of: self).map { ("'\(names[$0.thread])'", $0) }
        let all = threads + (Waiting.judge(of: self).map { [(judge, $0)] } ?? [])
        return all.map { "\($0) \($1.sentence(threads: names, namesPlaces: true))" }
            .joined(separator: "; ")
    }

    /// The operation that the lab does not control, and its place.
    static func outside(_ what: String, at pc: uintptr_t) -> Exploration.Inconclusive {
        let place = Exploration.Site.name(Symbols.sites(of: [UInt(pc)])[UInt(pc)])
        return Canaries.Family(rawValue: what) == nil
            ? .uncontrolled(what: what, place: place) : .notObserved(family: what, place: place)
    }

    /// The place of the last step.
    var lastPlace: String {
        let pc = UInt(allSteps.last?.pc ?? 0)
        return Exploration.Site.name(Symbols.sites(of: [pc])[pc])
    }

    /// Where a thread blocks, or runs without a step, so that no context switch is possible.
    func stuck(names: [String]) -> Exploration.Inconclusive {
        let frames = allFrames.map { UInt($0) + 1 }
        let sites = Symbols.sites(of: frames)
        let caller = frames.firstIndex { sites[$0]?.isOfProgram == true }
        let site = caller.flatMap { sites[frames[$0]] }
        var place = site.map { "at \($0.file):\($0.line)" } ?? "somewhere"
        let index = Int(blocked_thread)
        let name = index >= 0 ? names[index] : "set-up or check"
        let called = frames.prefix(caller ?? 0).reversed().lazy.compactMap(nameOfCFunction).first
        if status == RL_BLOCKED, let called { place = "in \(called) \(place)" }
        return status == RL_SILENT
            ? .runsOn(thread: name, place: place) : .blocked(thread: name, place: place)
    }

    /// The function of a library, such as `usleep`, that contains a return address; `nil` for one
    /// of Swift, and for one that is not public.
    private func nameOfCFunction(_ address: UInt) -> String? {
        guard !rl_is_of_program(address),
            let name = rl_name_of_function(address).map({ String(cString: $0) })
        else { return nil }
        let withoutUnderscores = name.drop { $0 == "_" }
        return withoutUnderscores.first?.isLetter == true ? String(withoutUnderscores) : nil
    }

    /// The first step at which the schedule does not fit, and the reason.
    func mismatch(to schedule: Exploration.Schedule, names: [String])
        -> Exploration.ScheduleMismatch
    {
        let step = Int(misfit_step)
        let waiting = allWaiting
        let couldGo = names.indices.filter { !waiting[$0].finished }.map { "'\(names[$0])'" }
        let reason: String
        var isWaiting = false
        if step >= schedule.choices.count {
            reason =
                "the schedule ends after \(numberOf(steps: step)), but "
                + couldGo.joined(separator: " and ") + (couldGo.count == 1 ? " has" : " have")
                + " not ended"
        } else if couldGo.isEmpty {
            reason = "the schedule goes on, but every thread has ended"
        } else if !names.indices.contains(schedule.choices[step]) {
            reason =
                "no thread has this letter; by now there "
                + (names.count == 1 ? "is " : "are ")
                + zip(Exploration.Schedule.letters(for: names), names)
                .map { "\($0) (\($1))" }.joined(separator: ", ")
        } else {
            let name = names[schedule.choices[step]]
            isWaiting = !misfit_early && !waiting[schedule.choices[step]].finished
            reason =
                misfit_early
                ? "it is the turn of '\(name)', but its step is no attempt right before a release, "
                    + "and waits for no queue: leave out the minus"
                : isWaiting
                    ? "it is the turn of '\(name)', but that thread cannot go on"
                    : "it is the turn of '\(name)', but that thread has ended"
        }
        return Exploration.ScheduleMismatch(
            step: step + 1, isWaiting: isWaiting, description: "step \(step + 1): \(reason)")
    }
}

/// Each misuse in the run so far, as a sentence.
func misuses(names: @autoclosure () -> [String]) -> [String] {
    var count = 0
    guard let first = rl_misuses(&count), count > 0 else { return [] }
    let names = names()
    let misuses = Array(UnsafeBufferPointer(start: first, count: count))
    let sites = Symbols.sites(of: misuses.map { UInt($0.pc) }.filter { $0 != 0 })
    return misuses.map { misuse in
        let place = misuse.pc == 0 ? "" : " at \(Exploration.Site.name(sites[UInt(misuse.pc)]))"
        let thread = misuse.thread < 0 ? "" : "'\(names[Int(misuse.thread)])' "
        switch rl_misuse_kind(UInt32(misuse.kind)) {
        case RL_RELEASED_FREE_LOCK: return "\(thread)releases a lock\(place) that no thread holds"
        case RL_RELEASED_FOREIGN_LOCK:
            return "\(thread)releases a lock\(place) that another thread holds"
        case RL_USED_DESTROYED_LOCK: return "\(thread)uses a mutex\(place) that is destroyed"
        case RL_DESTROYED_HELD_LOCK: return "\(thread)destroys a mutex\(place) that is held"
        case RL_WAITED_WITHOUT_LOCK:
            return "\(thread)waits for a condition\(place) without holding its lock"
        case RL_RESUMED_TWICE:
            return "\(thread)resumes a continuation\(place) that has already been resumed"
        case RL_FREED_TWICE:
            return thread.isEmpty
                ? "memory is freed\(place) that has already been freed"
                : "\(thread)frees memory\(place) that has already been freed"
        default:
            return "a semaphore is freed\(place) with the count \(misuse.count), less than the "
                + "\(misuse.made_with) that it was made with: the process would trap"
        }
    }
}

func numberOf(steps count: Int) -> String { count == 1 ? "1 step" : "\(count) steps" }

extension Explorer {
    /// Reports that the code under test is about to end this process.
    func report(_ end: rl_end, in run: rl_run) {
        let names = names(of: run)
        let thread = Int(end.thread)
        let who =
            names.indices.contains(thread)
            ? "'\(names[thread])'" : end.is_in_set_up ? "set-up" : "a check"
        let what: String
        if let call = end.call {
            let site = Exploration.Site.name(Symbols.sites(of: [UInt(end.pc)])[UInt(end.pc)])
            let name = String(cString: call)
            what =
                name.hasPrefix("exec") || name == "fexecve"
                ? "\(who) replaces the process by another program (\(name)) at \(site)"
                : "\(who) ends the process with \(name)(\(end.status)) at \(site)"
        } else {
            let crash = Crash(
                signal: end.status, isOverflow: end.overflow, address: UInt(end.pc),
                frames: elements(of: end.frames, end.frame_count))
            what = crash.sentence(who, message: nil)
        }
        let schedule = run.schedule.text(threads: names)
        let text = """
            RaceLab: \(what)
              in the interleaving \(schedule.isEmpty ? "that begins there" : schedule)
              To contain this and explore the other interleavings, use a child process:
              options.isolation = .childProcess()

            """
        FileHandle.standardError.write(Data(text.utf8))
    }
}
