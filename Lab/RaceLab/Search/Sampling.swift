import CRaceLab

/// Draws interleavings at random, instead of exploring them all.
///
/// The first run is not drawn: in it, threads continue as long as they can. It shows how many steps
/// and threads there are, and which memory threads share. Later runs correct that. For a seed,
/// the same interleavings are drawn in the same order.
struct Sampling {
    private let method: Exploration.Options.Sampling
    private let preemptionBound: Int?
    private let sampler: UnsafeMutablePointer<rl_sampler>
    private var left: Int
    private var random: UInt64
    /// What the runs so far have shown.
    private(set) var sample = Exploration.Sample(threads: 0, steps: 0)
    /// For each address that several threads accessed in the last run, and that a step changed: the
    /// places in the code, and how many steps each thread made there.
    private var shared: [(places: [UInt], steps: [UInt32])] = []
    /// In the last run: the thread that started each thread; -1: none.
    private var starters = [Int8](repeating: -1, count: Int(RL_MAX_THREADS))

    init(_ method: Exploration.Options.Sampling, runs: Int, seed: UInt64, preemptionBound: Int?) {
        self.method = method
        self.preemptionBound = preemptionBound
        left = max(1, runs) - 1
        random = seed
        sampler = .allocate(capacity: 1)
    }

    func deallocate() {
        sampler.deallocate()
    }

    // MARK: Learning

    mutating func learn(from run: UnsafePointer<rl_execution>) {
        sample = Exploration.Sample(
            threads: max(sample.threads, Int(run.pointee.thread_count)),
            steps: max(sample.steps, Int(run.pointee.step_count)))
        guard method == .selectivelyUniform else { return }
        for thread in 0..<Int(run.pointee.thread_count) {
            starters[thread] = Int8(run.pointee.origins[thread].starter)
        }
        learnPlaces(from: run)
    }

    private mutating func learnPlaces(from run: UnsafePointer<rl_execution>) {
        let steps = UnsafeBufferPointer(
            start: run.pointee.steps, count: Int(run.pointee.step_count))
        // By address, in the order of the first accesses: addresses differ between processes.
        var addresses: [UInt] = []
        var accesses: [UInt: (places: [UInt], threads: rl_thread_set, isChanged: Bool)] = [:]
        for step in steps {
            let address = UInt(step.address)
            if accesses[address] == nil { addresses.append(address) }
            var access = accesses[address, default: ([], 0, false)]
            if !access.places.contains(UInt(step.pc)), access.places.count < Int(RL_MAX_PLACES) {
                access.places.append(UInt(step.pc))
            }
            access.threads |= 1 << UInt32(step.thread)
            access.isChanged = access.isChanged || !rl_only_reads(step.kind)
            accesses[address] = access
        }
        shared = addresses.compactMap { address in
            let access = accesses[address]!
            guard access.isChanged, access.threads & (access.threads &- 1) != 0 else { return nil }
            var counts = [UInt32](repeating: 0, count: Int(RL_MAX_THREADS))
            for step in steps where access.places.contains(UInt(step.pc)) {
                counts[Int(step.thread)] += 1
            }
            return (access.places, counts)
        }
    }

    // MARK: Drawing

    /// Returns false if enough has been drawn.
    mutating func choose(_ plan: UnsafeMutablePointer<rl_plan>) -> Bool {
        if left == 0 { return false }
        left -= 1
        sampler.initialize(to: rl_sampler())
        sampler.pointee.random = rl_random(&random)
        sampler.pointee.preemption_bound = preemptionBound.map { UInt32(clamping: $0) } ?? .max
        sampler.pointee.intended = -1
        switch method {
        case .randomWalk: sampler.pointee.method = RL_RANDOM_WALK
        case .pct(let depth): drawChanges(depth)
        case .partialOrder: sampler.pointee.method = RL_PARTIAL_ORDER
        case .selectivelyUniform: drawPlaces()
        }
        plan.pointee.sampler = sampler
        return true
    }

    private mutating func drawChanges(_ depth: Int) {
        sampler.pointee.method = RL_PRIORITIES
        let count = min(max(1, depth) - 1, Int(RL_MAX_CHANGES))
        sampler.pointee.change_count = UInt32(count)
        let steps = UInt32(max(1, sample.steps - 1))
        let changes = (0..<count).map { _ in 1 + rl_random_below(&random, steps) }
        fill(&sampler.pointee.changes, with: changes)
    }

    /// Draws the memory to order; without shared memory, falls back to a random walk.
    private mutating func drawPlaces() {
        guard !shared.isEmpty else { return sampler.pointee.method = RL_RANDOM_WALK }
        sampler.pointee.method = RL_UNIFORM
        let (places, steps) = shared[Int(rl_random_below(&random, UInt32(shared.count)))]
        sampler.pointee.place_count = UInt32(places.count)
        fill(&sampler.pointee.places, with: places)
        fill(&sampler.pointee.left, with: steps)
        fill(&sampler.pointee.starter, with: starters)
    }
}

/// Sets the first elements of an array in a structure of C, which Swift sees as a tuple.
private func fill<Tuple, Element>(_ array: inout Tuple, with elements: [Element]) {
    withUnsafeMutableBytes(of: &array) { bytes in
        _ = bytes.bindMemory(to: Element.self).update(fromContentsOf: elements)
    }
}
