import RaceLab
import Synchronization

/// Admits at most one of two threads, or so it seems: each raises its flag, and enters if the other
/// flag is not raised.
final class WeakDoor {
    private let left = Atomic(false)
    private let right = Atomic(false)

    func leftEnters() -> Bool {
        left.store(true, ordering: .releasing)
        return !right.load(ordering: .acquiring)
    }

    func rightEnters() -> Bool {
        right.store(true, ordering: .releasing)
        return !left.load(ordering: .acquiring)
    }
}

/// Admits at most one of two threads.
final class Door {
    private let left = Atomic(false)
    private let right = Atomic(false)

    func leftEnters() -> Bool {
        left.store(true, ordering: .sequentiallyConsistent)
        return !right.load(ordering: .sequentiallyConsistent)
    }

    func rightEnters() -> Bool {
        right.store(true, ordering: .sequentiallyConsistent)
        return !left.load(ordering: .sequentiallyConsistent)
    }
}

package func weakDoor(_ scenario: Scenario) {
    let door = WeakDoor()
    let inside = Scenario.Log<String>()
    scenario.thread("left") { if door.leftEnters() { inside.append("left is inside") } }
    scenario.thread("right") { if door.rightEnters() { inside.append("right is inside") } }
    scenario.check { try Scenario.require(inside.entries.count < 2, "both are inside") }
}

package func door(_ scenario: Scenario) {
    let door = Door()
    let inside = Scenario.Log<String>()
    scenario.thread("left") { if door.leftEnters() { inside.append("left is inside") } }
    scenario.thread("right") { if door.rightEnters() { inside.append("right is inside") } }
    scenario.check { try Scenario.require(inside.entries.count < 2, "both are inside") }
}
