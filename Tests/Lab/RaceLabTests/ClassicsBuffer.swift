import Foundation
import RaceLab

/// Room for one item. A producer waits until the buffer is empty, a consumer until it is full.
class BoundedBuffer {
    fileprivate let changed = NSCondition()
    fileprivate var item: Int?

    func put(_ new: Int) {
        changed.lock()
        while item != nil { changed.wait() }
        item = new
        changed.broadcast()
        changed.unlock()
    }

    func take() -> Int? {
        changed.lock()
        while item == nil { changed.wait() }
        let taken = item
        item = nil
        changed.broadcast()
        changed.unlock()
        return taken
    }
}

final class BufferWithoutALoop: BoundedBuffer {
    override func take() -> Int? {
        changed.lock()
        if item == nil { changed.wait() }
        let taken = item
        item = nil
        changed.broadcast()
        changed.unlock()
        return taken
    }
}

final class BufferThatLooksFirst: BoundedBuffer {
    override func take() -> Int? {
        changed.lock()
        let isEmpty = item == nil
        changed.unlock()
        changed.lock()
        if isEmpty { changed.wait() }
        let taken = item
        item = nil
        changed.broadcast()
        changed.unlock()
        return taken
    }
}

extension Classic {
    static let boundedBuffers = [
        Classic("bounded buffer", .survives) { sharing($0, BoundedBuffer()) },
        Classic("bounded buffer without a loop", .fails(.failedCheck)) {
            sharing($0, BufferWithoutALoop())
        },
        Classic("bounded buffer, a wake-up lost", .fails(.deadlock)) {
            handing($0, BufferThatLooksFirst())
        },
    ]

    /// Two consumers and two items.
    private static func sharing(_ scenario: Scenario, _ buffer: BoundedBuffer) {
        let taken = Scenario.Log<Int?>()
        scenario.thread("producer") { for item in 1...2 { buffer.put(item) } }
        scenario.threads("first", "second") {
            let item = buffer.take()
            taken.append(item, item.map { "takes \($0)" } ?? "takes nothing")
        }
        scenario.check {
            try Scenario.require(
                !taken.entries.contains(nil), "something was taken that was not there")
            try Scenario.require(Set(taken.entries).count == 2, "an item was taken twice")
        }
    }

    /// One consumer and one item.
    private static func handing(_ scenario: Scenario, _ buffer: BoundedBuffer) {
        scenario.thread("producer") { buffer.put(1) }
        scenario.thread("consumer") { _ = buffer.take() }
    }
}
