/// Which operations, by number, run before the threads begin, and which each thread calls.
struct SmallProgram: Hashable {
    let before: [Int]
    /// In ascending order, since it does not matter which thread does what.
    let threads: [[Int]]

    /// Programs with at least two threads, those with the fewest operations first; of these, those
    /// with the fewest before the threads begin.
    static func all(
        operations: Int, upTo maximum: Int, threads: Int
    ) -> some Sequence<SmallProgram> {
        (2...max(2, maximum)).lazy.flatMap { total in
            (0...(total - 2)).lazy.flatMap { early in
                sequences(of: operations, count: early).lazy.flatMap { before in
                    distributions(of: total - early, over: operations, threads: threads)
                        .map { SmallProgram(before: before, threads: $0) }
                }
            }
        }
    }

    /// All sequences of `count` operations.
    private static func sequences(of operations: Int, count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return sequences(of: operations, count: count - 1).flatMap { shorter in
            (0..<operations).map { shorter + [$0] }
        }
    }

    /// All ways to give `count` operations to between two and `threads` threads.
    private static func distributions(
        of count: Int, over operations: Int, threads: Int
    ) -> [[[Int]]] {
        guard count >= 2, threads >= 2 else { return [] }
        return (2...min(count, threads)).flatMap {
            ascending(count, over: operations, threads: $0, from: [])
        }
    }

    /// All ascending lists of `threads` sequences with `count` operations together, none of which is
    /// below `lowest`.
    private static func ascending(
        _ count: Int, over operations: Int, threads: Int, from lowest: [Int]
    ) -> [[[Int]]] {
        guard threads > 0 else { return count == 0 ? [[]] : [] }
        guard count >= threads else { return [] }
        return (1...(count - threads + 1)).flatMap { length in
            sequences(of: operations, count: length)
                .filter { !isBelow($0, lowest) }
                .flatMap { first in
                    ascending(
                        count - length, over: operations, threads: threads - 1, from: first
                    ).map { [first] + $0 }
                }
        }
    }

    /// Shorter sequences come before longer ones.
    private static func isBelow(_ left: [Int], _ right: [Int]) -> Bool {
        left.count == right.count
            ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }

    // MARK: The calls, each of which is one of its kind

    /// `A`, `B`, `C` …
    static func threadName(_ thread: Int) -> String {
        String(UnicodeScalar(UInt8(ascii: "A") + UInt8(thread)))
    }

    var callsBefore: [Call] {
        before.enumerated().map { Call(thread: nil, index: $0, operation: $1) }
    }

    var callsOfThreads: [[Call]] {
        threads.enumerated().map { thread, operations in
            operations.enumerated().map { Call(thread: thread, index: $0, operation: $1) }
        }
    }
}

/// One call of an operation in a program.
struct Call: Hashable {
    /// `nil`: before the threads begin.
    let thread: Int?
    let index: Int
    let operation: Int
}
