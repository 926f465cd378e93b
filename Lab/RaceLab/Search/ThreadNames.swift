import CRaceLab

/// The names of threads, which are the same in all runs; see `rl_name`. Two runs that make
/// independent steps in different orders start threads in different orders, and so number them
/// differently. Wishes, which are made after one run and followed in another, have names.
struct ThreadNames {
    /// The names that are not numbers.
    private(set) var known = UnsafeMutablePointer<rl_name>.allocate(capacity: 0)
    private(set) var count = 0
    private var capacity = 0
    /// Of the threads of the last run.
    private var names: ContiguousArray<UInt32> = []

    func deallocate() {
        known.deallocate()
    }

    mutating func read(_ run: UnsafePointer<rl_execution>) {
        names.removeAll(keepingCapacity: true)
        for thread in 0..<Int(run.pointee.thread_count) {
            let origin = run.pointee.origins?[thread]
            names.append(name(of: thread, origin))
        }
    }

    private mutating func name(of thread: Int, _ origin: rl_origin?) -> UInt32 {
        guard let origin, origin.starter >= 0 else { return UInt32(thread) }
        let starter = names[Int(origin.starter)]
        let index = (0..<count).first {
            known[$0].starter == starter && known[$0].nth == origin.nth
        }
        if index == nil { add(rl_name(starter: starter, nth: origin.nth)) }
        return UInt32(index ?? count - 1) + UInt32(RL_MAX_THREADS)
    }

    private mutating func add(_ name: rl_name) {
        if count == capacity {
            capacity = max(64, 2 * capacity)
            known = grown(known, from: count, to: capacity)
        }
        known[count] = name
        count += 1
    }

    subscript(thread: Int) -> UInt32 { names[thread] }

    /// The thread for which a choice is made; `nil` if the last run does not have it.
    func thread(of named: UInt64) -> Int? { names.firstIndex(of: rl_chosen_name(named)) }

    /// The choice in the last run.
    func choice(_ named: UInt64) -> UInt32? {
        thread(of: named).map { rl_choice_of(named, Int32($0)) }
    }
}
