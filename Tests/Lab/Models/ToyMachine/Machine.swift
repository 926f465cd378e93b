import CRaceLab

/// The state of a toy program. A trivial value: a copy is a few words.
struct Machine {
    /// The most threads, and the most operations of a thread.
    static let (threads, operations) = (3, 5)
    private static let none: UInt8 = 255

    /// The operations of each thread.
    private let program: SIMD16<UInt8>
    private let threadCount: Int
    /// Where each thread is.
    private var at = SIMD4<UInt8>(repeating: 0)
    private var values = SIMD2<UInt8>(repeating: 0)
    /// The thread that holds each lock, + 1; 0: none.
    private var owners = SIMD2<UInt8>(repeating: 0)
    /// The locks that each thread has released since its last step, + 1: the first one in the lower
    /// half.
    private var released = SIMD4<UInt8>(repeating: 0)
    /// The `deinit`s that each thread has to run, one bit for each object.
    private var ends = SIMD4<UInt8>(repeating: 0)
    /// How many references there are to each object.
    private(set) var references = SIMD2<UInt8>(repeating: 0)
    private var trace = Trace()

    init(_ program: Program) {
        var operations = SIMD16<UInt8>(repeating: Self.none)
        for (thread, body) in program.threads.enumerated() {
            for (index, operation) in body.enumerated() {
                operations[thread * Self.operations + index] =
                    operation.kind.rawValue << 1 | operation.address
                if operation.kind == .drop { references[Int(operation.address)] += 1 }
            }
        }
        self.program = operations
        threadCount = program.threads.count
    }

    @inline(__always)
    private func code(_ thread: Int) -> UInt8 {
        if ends[thread] != 0 {
            return Operation.Kind.write.rawValue << 1 | (ends[thread] & 1 != 0 ? 0 : 1)
        }
        return at[thread] < UInt8(Self.operations)
            ? program[thread * Self.operations + Int(at[thread])] : Self.none
    }

    /// Where a thread is in its code: 0 is no place.
    @inline(__always)
    func place(_ thread: Int) -> UInt {
        UInt(thread * 16) + UInt(at[thread]) + (ends[thread] != 0 ? 100 : 1)
    }

    /// Whether a thread has made all its steps.
    @inline(__always)
    func isFinished(_ thread: Int) -> Bool { code(thread) == Self.none }

    /// The step that a thread makes next. The variables have the addresses 1 and 2, the locks 3 and 4.
    @inline(__always)
    func next(_ thread: Int) -> (kind: UInt8, address: UInt) {
        let code = code(thread)
        let address = UInt(code & 1) + 1
        switch Operation.Kind(rawValue: code >> 1) {
        case .read: return (UInt8(RL_ATOMIC_READ.rawValue), address)
        case .write: return (UInt8(RL_ATOMIC_WRITE.rawValue), address)
        case .exchange: return (UInt8(RL_EXCHANGE.rawValue), address)
        case .attempt: return (UInt8(RL_TRY_LOCK.rawValue), address + 2)
        default: return (UInt8(RL_LOCK.rawValue), address + 2)
        }
    }

    @inline(__always)
    private func canGo(_ thread: Int) -> Bool {
        let code = code(thread)
        if code == Self.none { return false }
        return code >> 1 != Operation.Kind.lock.rawValue || owners[Int(code & 1)] == 0
    }

    /// The threads that can make a step.
    @inline(__always)
    var enabled: rl_thread_set {
        var set: rl_thread_set = 0
        for thread in 0..<threadCount where canGo(thread) { set |= 1 << UInt32(thread) }
        return set
    }

    /// The thread whose release of a lock can still come after a thread's attempt to take it.
    @inline(__always)
    func holder(_ thread: Int) -> Int? {
        let code = code(thread)
        let lock = code & 1
        guard code != Self.none, code >> 1 == Operation.Kind.attempt.rawValue,
            owners[Int(lock)] == 0
        else { return nil }
        return (0..<threadCount).first {
            $0 != thread && (released[$0] & 15 == lock + 1 || released[$0] >> 4 == lock + 1)
        }
    }

    /// Whether a thread attempts to take a lock that another one holds.
    @inline(__always)
    func fails(_ thread: Int) -> Bool {
        let code = code(thread)
        return code != Self.none && code >> 1 == Operation.Kind.attempt.rawValue
            && owners[Int(code & 1)] != 0
    }

    /// The threads whose attempt can come before a release.
    @inline(__always)
    var early: rl_thread_set {
        var set: rl_thread_set = 0
        for thread in 0..<threadCount where holder(thread) != nil { set |= 1 << UInt32(thread) }
        return set
    }

    /// The locks that a thread releases after the one that an attempt misses.
    @inline(__always)
    func releasedLater(by holder: Int, than lock: UInt) -> UInt? {
        released[holder] & 15 == UInt8(lock - 2) && released[holder] >> 4 != 0
            ? UInt(released[holder] >> 4) + 2 : nil
    }

    /// The first release of a thread has happened.
    @inline(__always)
    private mutating func hasHappened(_ thread: Int) {
        let address = UInt(released[thread] & 15) + 2
        trace.add(address, event: UInt64(thread + 1000), onlyReads: false)
        released[thread] >>= 4
    }

    @inline(__always)
    private mutating func haveHappened(_ thread: Int) {
        while released[thread] != 0 { hasHappened(thread) }
    }

    /// A thread takes a lock: its release has happened, and so has what came before that.
    @inline(__always)
    private mutating func take(_ index: Int, _ thread: Int) {
        owners[index] = UInt8(thread + 1)
        for other in 0..<threadCount {
            let lock = UInt8(index + 1)
            if released[other] >> 4 == lock { haveHappened(other) }
            if released[other] & 15 == lock { hasHappened(other) }
        }
    }

    /// Identifies the equivalence class of an interleaving that has ended.
    var key: UInt64 {
        var machine = self
        for thread in 0..<threadCount { machine.haveHappened(thread) }
        return machine.trace.key
    }

    @inline(__always)
    private func belongsToStepBefore(_ code: UInt8) -> Bool {
        code != Self.none && code >> 1 >= Operation.Kind.unlock.rawValue
    }

    /// How a lock is available.
    @inline(__always)
    private func isFree(_ address: UInt) -> UInt8 {
        address <= 2 || owners[Int(address) - 3] == 0 ? UInt8(RL_FREE_FOR_ONE) : 0
    }

    /// Makes a thread's next step, and the releases that follow it. Reports each effect, and each
    /// object of which a reference is released, with the number of those left; and what is
    /// touched.
    @inline(__always)
    mutating func step(
        _ thread: Int, isEarly: Bool = false, _ report: (rl_effect) -> Void = { _ in },
        dropped: (Int, Int) -> Void = { _, _ in }, touched: (Int) -> Void = { _ in }
    ) {
        let code = code(thread)
        let index = Int(code & 1)
        var (kind, address) = next(thread)
        let free = isFree(address)
        let holder = isEarly ? holder(thread) : nil
        haveHappened(thread)
        switch Operation.Kind(rawValue: code >> 1) {
        case .write:
            values[index] ^= 1
        case .exchange where values[index] == 0:
            kind = UInt8(RL_ATOMIC_WRITE.rawValue)
            values[index] = 1
        case .exchange:
            kind = UInt8(RL_ATOMIC_READ.rawValue)
        case .lock:
            take(index, thread)
        case .attempt where isEarly || owners[index] != 0:
            kind = UInt8(RL_ATOMIC_READ.rawValue)
        case .attempt:
            take(index, thread)
        default:
            break
        }
        let only = kind == UInt8(RL_ATOMIC_READ.rawValue)
        trace.add(address, event: UInt64(place(thread)), onlyReads: only)
        report(rl_effect(address: address, type: 0, kind: kind, free_for: free, store: 0, value: 0))
        if let holder, let later = releasedLater(by: holder, than: address) {
            report(
                rl_effect(
                    address: later, type: 0, kind: kind, free_for: UInt8(RL_FREE_FOR_ONE), store: 0,
                    value: 0))
        }
        if ends[thread] != 0 { ends[thread] &= ends[thread] - 1 } else { at[thread] += 1 }
        while belongsToStepBefore(self.code(thread)) {
            let object = Int(self.code(thread) & 1)
            if self.code(thread) >> 1 == Operation.Kind.touch.rawValue {
                trace.add(UInt(object + 7), event: UInt64(place(thread)), onlyReads: false)
                at[thread] += 1
                touched(object)
                continue
            }
            if self.code(thread) >> 1 == Operation.Kind.drop.rawValue {
                references[object] -= 1
                dropped(object, Int(references[object]))
                if references[object] == 0 {
                    trace.add(UInt(object + 5), event: UInt64(place(thread)), onlyReads: false)
                }
                at[thread] += 1
                if references[object] == 0 { ends[thread] |= 1 << UInt8(object) }
                continue
            }
            address = UInt(self.code(thread) & 1) + 3
            if owners[Int(address) - 3] != UInt8(thread + 1) {
                at[thread] += 1
                continue
            }
            owners[Int(address) - 3] = 0
            let isFirst = released[thread] == 0
            released[thread] |= UInt8(address - 2) << (isFirst ? 0 : 4)
            report(
                rl_effect(
                    address: address, type: 0, kind: UInt8(RL_UNLOCK), free_for: 0, store: 0,
                    value: 0))
            at[thread] += 1
        }
    }
}

/// What has happened at each address, in which order, up to the order of reads between two writes,
/// and who has released the last reference to each object: what all interleavings of an equivalence
/// class have in common. It does not use the dependence relation of the lab.
struct Trace {
    private var hashes = SIMD8<UInt64>(repeating: 0)
    private var reads = SIMD8<UInt64>(repeating: 0)

    @inline(__always)
    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    @inline(__always)
    mutating func add(_ address: UInt, event: UInt64, onlyReads: Bool) {
        let a = Int(address) - 1
        if onlyReads {
            reads[a] &+= Self.mixed(event + 1)
        } else {
            hashes[a] = Self.mixed(Self.mixed(hashes[a] ^ reads[a]) &+ event + 1)
            reads[a] = 0
        }
    }

    /// Identifies the equivalence class.
    @inline(__always)
    var key: UInt64 {
        var key: UInt64 = 0
        for a in 0..<8 { key = Self.mixed(key ^ hashes[a] &+ Self.mixed(reads[a])) }
        return key
    }
}
