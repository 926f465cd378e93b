import CRaceLab

/// The state of a toy program. A trivial value: a copy is a few words.
struct Machine {
    /// The most threads, and the most operations of a thread.
    static let (threads, operations) = (3, 4)
    private static let none: UInt8 = 255

    /// The operations of each thread.
    private let program: SIMD16<UInt8>
    private let threadCount: Int
    /// Where each thread is.
    private var at = SIMD4<UInt8>(repeating: 0)
    private var values = SIMD2<UInt8>(repeating: 0)
    /// The thread that holds each lock, + 1; 0: none.
    private var owners = SIMD2<UInt8>(repeating: 0)
    private(set) var trace = Trace()

    init(_ program: Program) {
        var operations = SIMD16<UInt8>(repeating: Self.none)
        for (thread, body) in program.threads.enumerated() {
            for (index, operation) in body.enumerated() {
                operations[thread * Self.operations + index] =
                    operation.kind.rawValue << 1 | operation.address
            }
        }
        self.program = operations
        threadCount = program.threads.count
    }

    @inline(__always)
    private func code(_ thread: Int) -> UInt8 {
        at[thread] < UInt8(Self.operations)
            ? program[thread * Self.operations + Int(at[thread])] : Self.none
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

    /// How a lock is available.
    @inline(__always)
    private func isFree(_ address: UInt) -> UInt8 {
        address <= 2 || owners[Int(address) - 3] == 0 ? UInt8(RL_FREE_FOR_ONE) : 0
    }

    /// Makes a thread's next step, and the releases that follow it. Reports each effect.
    @inline(__always)
    mutating func step(_ thread: Int, _ report: (rl_effect) -> Void) {
        let code = code(thread)
        let index = Int(code & 1)
        var (kind, address) = next(thread)
        let free = isFree(address)
        switch Operation.Kind(rawValue: code >> 1) {
        case .write:
            values[index] ^= 1
        case .exchange where values[index] == 0:
            kind = UInt8(RL_ATOMIC_WRITE.rawValue)
            values[index] = 1
        case .exchange:
            kind = UInt8(RL_ATOMIC_READ.rawValue)
        case .lock:
            owners[index] = UInt8(thread + 1)
        default:
            break
        }
        let only = kind == UInt8(RL_ATOMIC_READ.rawValue)
        trace.add(address, event: UInt64(thread * 8) + UInt64(at[thread]), onlyReads: only)
        report(rl_effect(address: address, type: 0, kind: kind, free_for: free))
        at[thread] += 1
        while self.code(thread) >> 1 == Operation.Kind.unlock.rawValue {
            address = UInt(self.code(thread) & 1) + 3
            owners[Int(address) - 3] = 0
            trace.add(address, event: UInt64(thread * 8) + UInt64(at[thread]), onlyReads: false)
            report(
                rl_effect(
                    address: address, type: 0, kind: UInt8(RL_LOCK.rawValue), free_for: 0))
            at[thread] += 1
        }
    }
}

/// What has happened at each address, in which order, up to the order of reads between two writes:
/// what all interleavings of an equivalence class have in common. It does not use the dependence
/// relation of the lab.
struct Trace {
    private var hashes = SIMD4<UInt64>(repeating: 0)
    private var reads = SIMD4<UInt64>(repeating: 0)

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
        for a in 0..<4 { key = Self.mixed(key ^ hashes[a] &+ Self.mixed(reads[a])) }
        return key
    }
}
