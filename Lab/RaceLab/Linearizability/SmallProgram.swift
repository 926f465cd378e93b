/// A program: the operations, by number, that run before the threads begin, and those that each
/// thread calls.
struct SmallProgram: Hashable {
    let before: [Int]
    /// In ascending order, because exchanging two threads gives an equivalent program.
    let threads: [[Int]]

    /// All programs with at least two threads, those with the fewest operations first; among those
    /// with equally many, those with the fewest operations before the threads begin.
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

    /// All distributions of `count` operations over two to `threads` threads.
    private static func distributions(
        of count: Int, over operations: Int, threads: Int
    ) -> [[[Int]]] {
        guard count >= 2, threads >= 2 else { return [] }
        return (2...min(count, threads)).flatMap {
            ascending(count, over: operations, threads: $0, from: [])
        }
    }

    /// All ascending lists of `threads` sequences that have `count` operations in total, none of
    /// them below `lowest`.
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

    /// Shorter sequences come first; those of equal length are in lexicographic order.
    private static func isBelow(_ left: [Int], _ right: [Int]) -> Bool {
        left.count == right.count
            ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }

    /// The name of a thread: `A`, `B`, `C` …
    static func threadName(_ thread: Int) -> String {
        String(UnicodeScalar(UInt8(ascii: "A") + UInt8(thread)))
    }
}
