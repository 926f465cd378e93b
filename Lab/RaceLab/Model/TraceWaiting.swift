import CRaceLab

extension Exploration.Trace {
    /// Why a thread cannot continue, at the end of an interleaving that did not complete.
    public struct Waiting: Codable, Sendable {
        /// What a thread waits for.
        public enum Cause: Hashable, Codable, Sendable {
            /// A lock that another thread holds: the index of that thread, and the index of the
            /// step in which it took the lock. `nil` if the lab does not know.
            case lock(holder: Int?, takenInStep: Int?)
            /// A change to a value that it reads repeatedly and that no thread changes.
            case change
            /// A signal of the condition on which it sleeps.
            case wakeUp
            /// A semaphore that no thread signals.
            case semaphore
            /// The end of another thread.
            case end(of: Int)
            /// Its turn: work that was sent to the queue before is not done yet.
            case turn
            /// The end of work: of work sent to a queue, of a work item, or of all work in a group.
            case completion
            /// To be resumed: it is a suspended task.
            case resumption
            /// The next element of an `AsyncStream`.
            case element
            /// An actor that another task holds: the index of that task. `nil` if the lab does not
            /// know.
            case actor(holder: Int?)
            /// Something else.
            case other
        }

        /// The index of the thread that waits.
        public let thread: Int
        /// What it waits for.
        public let cause: Cause
        /// The name of the instance that it waits for, see ``Exploration/Trace/Step/owner``.
        public internal(set) var owner: String?
        package internal(set) var instance: Instance?
        /// The class of the actor for which it waits.
        public internal(set) var actor: String?
        /// The label of the dispatch queue for which it waits.
        public internal(set) var queue: String?
        /// Where it waits; of a task that has not begun, where it is created.
        public let site: Exploration.Site?
        /// Whether it is a task that has not begun.
        package let isNew: Bool
        /// The line of source at which it would continue.
        public let text: String
        /// Where the holder took the lock.
        public let taken: Exploration.Site?
    }
}

extension Exploration.Trace.Waiting {
    static func all(of run: rl_run) -> [Exploration.Trace.Waiting] {
        guard run.status == RL_DEADLOCK else { return [] }
        let waiting = run.allWaiting
        let addresses = waiting.flatMap { [UInt($0.pc), UInt($0.holder_pc)] }.filter { $0 != 0 }
        let sites = Symbols.sites(of: addresses)
        // A worker that waits for work to do is not stuck.
        let stuck = waiting.enumerated().filter {
            !$1.finished && rl_kind(UInt32($1.kind)) != RL_RECEIVE
        }
        return stuck.map { thread, waiting in Self(waiting, of: thread, in: run, sites) }
    }

    /// What the code that judges the run waits for, if it does.
    static func judge(of run: rl_run) -> Self? {
        guard run.judge_waits else { return nil }
        let sites = Symbols.sites(of: [UInt(run.judge.pc), UInt(run.judge.holder_pc)])
        return Self(run.judge, of: -1, in: run, sites)
    }

    private init(
        _ waiting: rl_waiting, of thread: Int, in run: rl_run, _ sites: [UInt: Exploration.Site]
    ) {
        self.thread = thread
        cause = Self.cause(waiting, run)
        actor = waiting.actor
        queue = waiting.queue.map { String(cString: $0) }
        site = sites[UInt(waiting.pc)]
        isNew = rl_kind(UInt32(waiting.kind)) == RL_ARRIVE && !waiting.begun
        text = site.flatMap { SourceText.line($0.line, of: $0.path) } ?? ""
        taken = waiting.holder < 0 ? nil : sites[UInt(waiting.holder_pc)]
    }

    private static func cause(_ waiting: rl_waiting, _ run: rl_run) -> Cause {
        if waiting.spinning { return .change }
        switch rl_kind(UInt32(waiting.kind)) {
        case RL_LOCK, RL_TRY_LOCK, RL_SHARED_LOCK:
            return waiting.holder < 0 && waiting.in_line ? .turn : lock(waiting, run)
        case RL_WAIT: return .wakeUp
        case RL_ACQUIRE: return .semaphore
        case RL_AWAIT: return .completion
        case RL_JOIN where waiting.holder >= 0: return .end(of: Int(waiting.holder))
        case RL_SUSPENDED: return .resumption
        case RL_NEXT: return .element
        case RL_ARRIVE: return .actor(holder: waiting.holder < 0 ? nil : Int(waiting.holder))
        default: return .other
        }
    }

    private static func lock(_ waiting: rl_waiting, _ run: rl_run) -> Cause {
        let taking = [RL_LOCK, RL_TRY_LOCK, RL_SHARED_LOCK, RL_TRY_SHARED_LOCK].map(\.rawValue)
        guard waiting.holder >= 0 else { return .lock(holder: nil, takenInStep: nil) }
        // A reader may have taken it again since, and released that.
        let taken = run.allSteps.lastIndex {
            taking.contains(UInt32($0.kind)) && !$0.failed && $0.address == waiting.address
                && Int($0.thread) == Int(waiting.holder) && $0.pc == waiting.holder_pc
        }
        return .lock(holder: Int(waiting.holder), takenInStep: taken)
    }

    /// What it waits for, in words that fit into the row of a table.
    ///
    /// - Parameter namesPlaces: whether the sentence stands alone, and names the places that a
    ///   table shows in its columns.
    package func sentence(threads: [String], namesPlaces: Bool = false) -> String {
        let waits = namesPlaces ? "waits at \(Exploration.Site.name(site))" : "waits"
        switch cause {
        case .lock(let holder?, let step):
            let place = namesPlaces ? " at \(Exploration.Site.name(taken))" : nil
            let which = place ?? step.map { " in step \($0 + 1)" } ?? ""
            let who = holder == thread ? "it took itself" : "'\(threads[holder])' took"
            return "\(waits) for \(queueOrLock) that \(who)\(which)"
        case .lock(nil, _): return "\(waits) for \(queue == nil ? "a lock" : queueOrLock)"
        case .change: return "\(waits) for a change that no thread makes"
        case .wakeUp: return "\(waits) to be woken by a signal"
        case .semaphore: return "\(waits) for a semaphore to be signalled"
        case .end(let other): return "\(waits) for '\(threads[other])' to end"
        case .turn: return "\(waits) for what came to \(queueOrLock) before"
        case .completion: return "\(waits) for work to finish"
        case .resumption: return "\(waits) to be resumed"
        case .element: return "\(waits) for the next element"
        case .actor(let holder):
            let which = holder.map { ", which '\(threads[$0])' holds" } ?? ""
            let what = isNew ? "to begin on" : "for"
            return "\(waits) \(what) \(actor ?? "an actor")\(which)"
        case .other: return waits
        }
    }

    /// The queue with its label, or `the lock`.
    package var queueOrLock: String {
        queue.map { $0.isEmpty ? "the queue" : "the queue '\($0)'" } ?? "the lock"
    }
}

extension rl_waiting {
    /// The class of the actor for which a task waits. The actor exists as long as a task waits for
    /// it.
    var actor: String? {
        guard rl_kind(UInt32(kind)) == RL_ARRIVE, address != 0 else { return nil }
        let main = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self).0
        if UInt(address) == main { return "MainActor" }
        let actor = UnsafeRawPointer(bitPattern: UInt(address)).map {
            Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        }
        return actor.map { String("\(type(of: $0))".prefix { $0 != "<" }) }
    }
}
