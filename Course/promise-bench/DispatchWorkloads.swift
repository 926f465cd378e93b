import Dispatch

/// The workloads without promises, on Grand Central Dispatch alone: the lower limit for everything
/// that is built on it.
enum DispatchWorkloads {
    static func thens(_ count: Int, times: Int) -> () -> Void {
        let queue = DispatchQueue(label: "thens", qos: .userInitiated)
        let done = DispatchSemaphore(value: 0)
        return {
            for _ in 0..<times {
                hop(count, on: queue, then: done)
                done.wait()
            }
        }
    }

    static func fulfilling(_ count: Int) -> () -> Void {
        let queue = DispatchQueue(label: "many", qos: .userInitiated, attributes: .concurrent)
        let group = DispatchGroup()
        return {
            for _ in 0..<count {
                group.enter()
                queue.async { group.leave() }
            }
            group.wait()
        }
    }

    /// As many blocks as there are links; each block dispatches the next one.
    static func chain(_ links: Int, immediate: Bool) -> () -> Void {
        let queue = DispatchQueue(label: "chain", qos: .userInitiated)
        let done = DispatchSemaphore(value: 0)
        return {
            hop(links, on: queue, then: done)
            done.wait()
        }
    }

    /// A group that is entered and left.
    static func all(_ count: Int) -> () -> Void {
        let queue = DispatchQueue(label: "all", qos: .userInitiated)
        let group = DispatchGroup()
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<count { group.enter() }
        group.notify(queue: queue) { done.signal() }
        return {
            for _ in 0..<count { group.leave() }
            done.wait()
        }
    }

    private static func hop(
        _ count: Int, on queue: DispatchQueue, then done: DispatchSemaphore
    ) {
        queue.async {
            if count == 1 {
                done.signal()
            } else {
                hop(count - 1, on: queue, then: done)
            }
        }
    }
}
