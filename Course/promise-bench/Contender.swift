/// An implementation to measure. Every function first does its preparation, which is not timed, and
/// returns the work to time, or `nil` if the implementation cannot do that work.
struct Contender {
    let name: String
    let thens: (_ count: Int, _ times: Int) -> () -> Void
    let fulfilling: (_ count: Int) -> () -> Void
    let chain: (_ links: Int, _ immediate: Bool) -> (() -> Void)?
    var all: ((_ count: Int) -> () -> Void)?
    /// Makes `count` objects, and passes the code whose allocations count to `counted`.
    typealias Making = (_ count: Int, _ counted: (() -> Void) -> Void) -> Void
    var pending: Making?
    var links: Making?

    static let contenders = [
        Contender(
            name: "GCD alone", thens: DispatchWorkloads.thens,
            fulfilling: DispatchWorkloads.fulfilling, chain: DispatchWorkloads.chain,
            all: DispatchWorkloads.all),
        Contender(
            name: "Stage 1", thens: Stage1Workloads.thens, fulfilling: Stage1Workloads.fulfilling,
            chain: Stage1Workloads.chain, pending: Stage1Workloads.pending,
            links: Stage1Workloads.links),
        Contender(
            name: "Stage 2", thens: Stage2Workloads.thens, fulfilling: Stage2Workloads.fulfilling,
            chain: Stage2Workloads.chain, pending: Stage2Workloads.pending,
            links: Stage2Workloads.links),
        Contender(
            name: "Stage 3", thens: Stage3Workloads.thens, fulfilling: Stage3Workloads.fulfilling,
            chain: Stage3Workloads.chain, all: Stage3Workloads.all,
            pending: Stage3Workloads.pending, links: Stage3Workloads.links),
        Contender(
            name: "Task/await", thens: TaskWorkloads.thens, fulfilling: TaskWorkloads.fulfilling,
            chain: TaskWorkloads.chain, all: TaskWorkloads.all),
    ]
}
