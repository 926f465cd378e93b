import CPromiseBench
import Dispatch

struct Timing: Encodable {
    let workload: String
    let contender: String
    let unit: String
    /// The median of all repetitions.
    let median: Double
    let fastest: Double
    let slowest: Double
    let repetitions: Int
    /// The time divided by that of GCD alone in the same run.
    let ratio: Double
}

struct Memory: Encodable {
    let thing: String
    let contender: String
    let allocations: Double
    let bytes: Double
}

enum Measure {
    /// The contenders take turns, so that other programs on the machine affect all of them equally.
    static func times(_ workload: Workload, quick: Bool) -> [Timing] {
        var runs: [[Double]] = Contender.contenders.map { _ in [] }
        for repetition in 0...(quick ? 1 : workload.repetitions) {
            for (index, contender) in Contender.contenders.enumerated() {
                guard let work = workload.prepare(contender) else { continue }
                let time = nanoseconds(work) / workload.divisor
                // The first round warms up the caches and starts the threads.
                if repetition > 0 { runs[index].append(time) }
            }
        }
        let limit = median(runs[0])
        return zip(Contender.contenders, runs).compactMap { contender, runs in
            guard !runs.isEmpty else { return nil }
            let median = median(runs)
            return Timing(
                workload: "\(workload.id) \(workload.name)", contender: contender.name,
                unit: workload.unit, median: median, fastest: runs.min()!, slowest: runs.max()!,
                repetitions: runs.count, ratio: median / limit)
        }
    }

    /// The average number of heap blocks and bytes of one object, measured with ten thousand.
    static func memory() -> [Memory] {
        guard promise_bench_counts_heap() else { return [] }
        let count = 10_000
        func taken(_ thing: String, _ contender: Contender, _ make: Contender.Making?) -> Memory? {
            guard let make else { return nil }
            var heap = promise_bench_heap()
            make(count) { work in
                promise_bench_start_counting()
                work()
                heap = promise_bench_stop_counting()
            }
            return Memory(
                thing: thing, contender: contender.name,
                allocations: Double(heap.blocks) / Double(count),
                bytes: Double(heap.bytes) / Double(count))
        }
        return Contender.contenders.compactMap { taken("a pending promise", $0, $0.pending) }
            + Contender.contenders.compactMap { taken("a link", $0, $0.links) }
            + [1, 2, 3].flatMap { thens in Contender.contenders.map { allocated(thens, $0) } }
    }

    /// The heap blocks and bytes that an iteration of W1 to W3 allocates, freed or not.
    private static func allocated(_ thens: Int, _ contender: Contender) -> Memory {
        let count = 10_000
        contender.thens(thens, 10)()
        let work = contender.thens(thens, count)
        promise_bench_start_counting()
        work()
        let heap = promise_bench_stop_counting()
        return Memory(
            thing: "allocated in W\(thens)", contender: contender.name,
            allocations: Double(heap.taken_blocks) / Double(count),
            bytes: Double(heap.taken_bytes) / Double(count))
    }

    private static func nanoseconds(_ work: () -> Void) -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        work()
        return Double(DispatchTime.now().uptimeNanoseconds - start)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
