/// A task to measure.
struct Workload {
    let id: String
    let name: String
    let unit: String
    /// The units of work in one run, times the nanoseconds in the unit of time. Results show the
    /// time of a run divided by this.
    let divisor: Double
    let repetitions: Int
    let prepare: (Contender) -> (() -> Void)?

    private static let iterations = 10_000

    /// W1 to W4 are the benchmarks of Google Promises, with the same numbers.
    static let workloads =
        [1, 2, 3].map { count in
            Workload(
                id: "W\(count)",
                name: count == 1 ? "one `then`" : "\(count == 2 ? "two" : "three") `then`s",
                unit: "µs", divisor: Double(iterations) * 1_000, repetitions: 9
            ) { $0.thens(count, iterations) }
        } + [
            Workload(
                id: "W4", name: "10,000 settled", unit: "ms", divisor: 1_000_000, repetitions: 9
            ) { $0.fulfilling(iterations) },
            chain(1_000, immediate: true), chain(1_000_000, immediate: true),
            chain(1_000, immediate: false), chain(1_000_000, immediate: false),
            Workload(
                id: "all", name: "of 10,000", unit: "ms", divisor: 1_000_000, repetitions: 9
            ) { $0.all?(iterations) },
        ]

    /// `immediate`: handlers run where the promise is settled; otherwise each goes through a queue.
    private static func chain(_ links: Int, immediate: Bool) -> Workload {
        let size = links == 1_000 ? "1,000" : "1,000,000"
        return Workload(
            id: !immediate ? "on a queue" : links == 1_000 ? "W5 chain" : "chain", name: size,
            unit: "ns a link",
            divisor: Double(links), repetitions: links == 1_000 ? 25 : 3
        ) { $0.chain(links, immediate) }
    }
}
