/// What a thread of a toy program does next. There are two variables, two locks and two objects.
package struct Operation: Hashable, Comparable, Sendable, CustomStringConvertible {
    package enum Kind: UInt8, CaseIterable, Sendable {
        case read
        case write
        /// Writes the variable if it is 0; otherwise it has only read.
        case exchange
        case lock
        /// Takes the lock if it is free. Until the next step of a thread that has just released the
        /// lock, the attempt can also come before that release, and fail.
        case attempt
        /// Not a step of its own: it belongs to the step before, like every release in the lab. After
        /// an attempt that failed it does nothing.
        case unlock
        /// Releases the thread's reference to an object. Not a step of its own, either. The release
        /// of the last reference runs a `deinit`, which writes the variable of that number.
        case drop
        /// Changes something that no step announces, as a runtime does. Not a step of its own.
        case touch
    }

    package let kind: Kind
    /// 0 or 1.
    package let address: UInt8

    package init(_ kind: Kind, _ address: UInt8) {
        self.kind = kind
        self.address = address
    }

    private static func all(_ kinds: [Kind]) -> [Operation] {
        kinds.flatMap { [Operation($0, 0), Operation($0, 1)] }
    }

    package static let common = all([.read, .write, .exchange, .lock, .unlock])
    /// Some of those, and all on objects.
    package static let counting = all([.read, .write, .lock, .unlock, .drop])
    package static let touching = all([.read, .write, .lock, .unlock, .touch])
    /// Those within a critical section.
    package static let within = all([.read, .write, .drop, .touch])
    package static let attempting = all([.read, .write, .lock, .attempt, .unlock])

    package static func < (left: Operation, right: Operation) -> Bool {
        (left.kind.rawValue, left.address) < (right.kind.rawValue, right.address)
    }

    package var description: String {
        let names =
            switch kind {
            case .lock, .attempt, .unlock: ["m", "n"]
            case .drop: ["a", "b"]
            case .touch: ["r", "s"]
            default: ["x", "y"]
            }
        return "\(kind) \(names[Int(address)])"
    }

    fileprivate var swapped: Operation { Operation(kind, 1 - address) }
}

/// A program of up to three threads with a few operations each.
package struct Program: Hashable, Sendable, CustomStringConvertible {
    package let threads: [[Operation]]

    package init(_ threads: [[Operation]]) {
        self.threads = threads
    }

    package var description: String {
        threads.map { $0.map(\.description).joined(separator: "; ") }.joined(separator: " ∥ ")
    }

    /// Whether each thread begins with a step, unlocks only what it has locked, and releases at most
    /// one reference in a step. (Of 20,000 programs that may release more, the search misses an
    /// interleaving of one: what a step releases second comes after the `deinit` of the first.)
    static func isValid(_ thread: [Operation]) -> Bool {
        var held: Set<UInt8> = []
        if thread.first?.kind == .drop || thread.first?.kind == .touch { return false }
        if zip(thread, thread.dropFirst()).contains(where: { $0.kind == .drop && $1.kind == .drop })
        {
            return false
        }
        for operation in thread {
            switch operation.kind {
            case .lock, .attempt: held.insert(operation.address)
            case .unlock: if held.remove(operation.address) == nil { return false }
            default: break
            }
        }
        return true
    }

    /// Every program of this shape. Of programs that differ only in the names of threads or of
    /// addresses, there is one.
    package static func all(
        threads: Int, operations: Int, _ alphabet: [Operation] = Operation.common
    ) -> [Program] {
        let bodies = bodies(operations, alphabet)
        let swapped = bodies.map { body in
            bodies.firstIndex(of: body.map(\.swapped))!
        }
        var programs: [Program] = []
        var chosen: [Int] = []
        func add() {
            guard chosen.count < threads else {
                let image = chosen.map { swapped[$0] }.sorted()
                if !image.lexicographicallyPrecedes(chosen) {
                    programs.append(Program(chosen.map { bodies[$0] }))
                }
                return
            }
            for body in (chosen.last ?? 0)..<bodies.count {
                chosen.append(body)
                add()
                chosen.removeLast()
            }
        }
        add()
        return programs
    }

    /// Programs of two threads with one critical section each.
    package static func criticalSections(_ first: Int, _ second: Int) -> [Program] {
        func sections(_ operations: Int) -> [[Operation]] {
            bodies(operations, Operation.within, valid: false).map {
                [Operation(.lock, 0)] + $0 + [Operation(.unlock, 0)]
            }.filter(isValid)
        }
        return sections(first).flatMap { one in sections(second).map { Program([one, $0]) } }
    }

    private static func bodies(
        _ operations: Int, _ alphabet: [Operation], valid: Bool = true
    ) -> [[Operation]] {
        var bodies: [[Operation]] = [[]]
        for _ in 0..<operations {
            bodies = bodies.flatMap { body in alphabet.map { body + [$0] } }
        }
        return valid ? bodies.filter(isValid) : bodies
    }

    /// Programs drawn at random, the same ones for a seed.
    package static func random(
        _ count: Int, threads: Int, operations: Int, seed: UInt64,
        _ alphabet: [Operation] = Operation.common
    ) -> [Program] {
        let bodies = bodies(operations, alphabet)
        var numbers = RandomNumbers(seed: seed)
        return (0..<count).map { _ in
            Program((0..<threads).map { _ in bodies[numbers.below(UInt64(bodies.count))] })
        }
    }
}
