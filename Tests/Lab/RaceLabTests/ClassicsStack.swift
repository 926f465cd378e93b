import RaceLab
import Synchronization

/// A lock-free stack, after Treiber: nodes are numbered, `head` is the number of the topmost one,
/// and each node has the number of the one below it. -1 means no node.
class TreiberStack {
    final class Node: Sendable {
        let below = Atomic(-1)
    }

    let nodes = [Node(), Node(), Node()]
    let head = Atomic(-1)

    func push(_ node: Int) {
        while true {
            let top = head.load(ordering: .acquiring)
            nodes[node].below.store(top, ordering: .relaxed)
            if head.compareExchange(
                expected: top, desired: node, ordering: .acquiringAndReleasing
            ).exchanged {
                return
            }
        }
    }

    func pop() -> Int? {
        while true {
            let top = head.load(ordering: .acquiring)
            guard top >= 0 else { return nil }
            let below = nodes[top].below.load(ordering: .relaxed)
            if head.compareExchange(
                expected: top, desired: below, ordering: .acquiringAndReleasing
            ).exchanged {
                return top
            }
        }
    }

    /// The elements from the top. Ends at a cycle.
    var content: [Int] {
        var content: [Int] = []
        var next = head.load(ordering: .relaxed)
        while next >= 0, content.count < nodes.count {
            content.append(next)
            next = nodes[next].below.load(ordering: .relaxed)
        }
        return content
    }
}

/// The same with a number in `head` that grows with each change: `head` never repeats a value.
final class CountingStack {
    let nodes = [TreiberStack.Node(), TreiberStack.Node(), TreiberStack.Node()]
    /// 8 bits for the number of the node, plus one; the remaining bits count changes.
    let head = Atomic(0)

    func push(_ node: Int) {
        while true {
            let seen = head.load(ordering: .acquiring)
            nodes[node].below.store(seen & 0xFF - 1, ordering: .relaxed)
            if replace(seen, by: node) { return }
        }
    }

    func pop() -> Int? {
        while true {
            let seen = head.load(ordering: .acquiring)
            let top = seen & 0xFF - 1
            guard top >= 0 else { return nil }
            if replace(seen, by: nodes[top].below.load(ordering: .relaxed)) { return top }
        }
    }

    private func replace(_ seen: Int, by node: Int) -> Bool {
        let next = (seen | 0xFF) + 1 + (node + 1)
        return head.compareExchange(
            expected: seen, desired: next, ordering: .acquiringAndReleasing
        ).exchanged
    }

    var content: [Int] {
        var content: [Int] = []
        var next = head.load(ordering: .relaxed) & 0xFF - 1
        while next >= 0, content.count < nodes.count {
            content.append(next)
            next = nodes[next].below.load(ordering: .relaxed)
        }
        return content
    }
}

extension Classic {
    static let stacks = [pushAndPop, stackABA, countingStack]

    static let pushAndPop = Classic("stack: push and pop", .survives) { scenario in
        let stack = TreiberStack()
        stack.push(0)
        var popped: Int?
        scenario.thread("pushes") { stack.push(1) }
        scenario.thread("takes") { popped = stack.pop() }
        scenario.outcome { "\(popped.map(String.init) ?? "none"), left \(stack.content)" }
        scenario.expect("0, left [1]", .acceptable, "popped first")
        scenario.expect("1, left [0]", .acceptable, "pushed first")
    }

    static let stackABA = Classic("stack: A, B, A", .fails(.failedCheck)) { scenario in
        let stack = TreiberStack()
        stack.push(1)
        stack.push(0)
        var (popped, kept): (Int?, Int?)
        scenario.thread("takes") { popped = stack.pop() }
        scenario.thread("moves") {
            let top = stack.pop()
            kept = stack.pop()
            if let top { stack.push(top) }
        }
        scenario.state("stack") { "\(stack.content)" }
        scenario.check {
            let all = [popped, kept].compactMap { $0 } + stack.content
            try Scenario.require(all.sorted() == [0, 1], "a node is in two places")
        }
    }

    static let countingStack = Classic("stack with a counting head", .survives) { scenario in
        let stack = CountingStack()
        stack.push(1)
        stack.push(0)
        var (popped, kept): (Int?, Int?)
        scenario.thread("takes") { popped = stack.pop() }
        scenario.thread("moves") {
            let top = stack.pop()
            kept = stack.pop()
            if let top { stack.push(top) }
        }
        scenario.check {
            let all = [popped, kept].compactMap { $0 } + stack.content
            try Scenario.require(all.sorted() == [0, 1], "a node is in two places")
        }
    }
}
