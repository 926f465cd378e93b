import RaceLabTesting
import SharedSuite
import Synchronization
import Testing

@testable import RaceLab

/// The compiler generates accessors for properties of classes that are not `final`, and for all
/// that protocols and generic code access. Findings must show the line of the code that calls the
/// accessor.
@Suite("An access through an accessor has the line of its caller", .needsTheLab)
struct AccessorTests {
    /// The lines of the accesses, in order. Consecutive accesses from the same line are listed only
    /// once.
    private static func lines(_ body: @escaping () -> Void) throws -> [String] {
        let describe = { (scenario: Scenario) in scenario.thread("only", body) }
        let exploration = explore(describe)
        let trace = try exploration.replay(try #require(exploration.passingSchedule))
        #expect(trace.steps.allSatisfy { $0.site?.file == "AccessorTests.swift" })
        return trace.steps.map(\.text).reduce(into: []) { lines, line in
            if lines.last != line { lines.append(line) }
        }
    }

    @Test("a class that can be overridden")
    func open() throws {
        let lines = try Self.lines {
            let model = Open()
            model.count = 1
            let constant = 3
            model.count += constant
            let seen = model.count
            increment(
                &model.count)
            model.list.append(seen)
            swap(&model.count, &model.other)
            model.touch()
        }
        #expect(
            lines == [
                "model.count = 1", "model.count += constant", "let seen = model.count",
                "&model.count)", "model.list.append(seen)", "swap(&model.count, &model.other)",
                "func touch() { other = count }",
            ])
    }

    @Test("properties that are overridden, observed, lazy, wrapped or static")
    func kinds() throws {
        let lines = try Self.lines {
            let model: Open = Overriding()
            model.observed = 1
            let constant = 3
            model.observed += constant
            model.count += 1
            model.wrapped += constant
            model.late = 2
            Open.shared += 1
            model[1] = 2
            let seen = model.observed
            keep(seen, model.late)
        }
        #expect(
            lines == [
                "model.observed = 1", "model.observed += constant",
                "get { super.count }", "set { super.count = newValue }",
                "model.wrapped += constant",
                "model.late = 2",
                "Open.shared += 1",
                "set { super.count = newValue }",
                "let seen = model.observed",
                "keep(seen, model.late)",
            ])
    }

    @Test("an existential, and generic code")
    func protocols() throws {
        let lines = try Self.lines {
            let model: any Counting = Open()
            model.count = 1
            model.count += 1
            let seen = model.count
            raise(Open())
            let final: any Counting = Final()
            final.count += seen
            raise(Final())
        }
        let raised = [
            "let seen = counting.count", "counting.count = seen + 1", "counting.count += 1",
        ]
        #expect(
            lines == ["model.count = 1", "model.count += 1", "let seen = model.count"] + raised
                + ["final.count += seen"] + raised)
    }

    @Test("a generic class, from its own module and from another one")
    func generics() throws {
        let lines = try Self.lines {
            let own = Generic("a")
            own.value += "b"
            exchange(own, "c")
            let other = Opened(1)
            other.value = 2
            other.value += 1
            other.isLess.toggle()
            let model = Observing("a")
            model.value += "b"
            let seen = model.value
            keep(seen)
        }
        #expect(
            lines == [
                "own.value += \"b\"", "let before = generic.value", "generic.value = value",
                "keep(before, generic.value)", "other.value = 2", "other.value += 1",
                "other.isLess.toggle()", "model.value += \"b\"",
                "let seen = model.value",
            ])
    }

    @Test("accesses that the libraries make for the program, by protocol or key path")
    func libraries() throws {
        let keyPath = [\Open.count, \.other][0]
        let lines = try Self.lines {
            let model = Open()
            let text = "\(model)"
            model[keyPath: keyPath] += text.count
            let seen = model[keyPath: keyPath]
            let total = [model].map(\.count).reduce(0, +)
            keep(seen, total)
        }
        #expect(
            lines == [
                "let text = \"\\(model)\"", "model[keyPath: keyPath] += text.count",
                "let seen = model[keyPath: keyPath]",
                "let total = [model].map(\\.count).reduce(0, +)",
            ])
    }

    @Test("a lock that is a property of a class that can be overridden")
    func locks() throws {
        let lines = try Self.lines {
            let model = Locked(1)
            model.lock.withLock { $0 += 1 }
            _ = model.lock.withLockIfAvailable { $0 += 1 }
        }
        #expect(
            lines == [
                "model.lock.withLock { $0 += 1 }",
                "_ = model.lock.withLockIfAvailable { $0 += 1 }",
            ])
    }
}

private protocol Counting: AnyObject {
    var count: Int { get set }
}

private final class Final: Counting {
    var count = 0
}

@propertyWrapper
private struct Wrapped {
    var wrappedValue: Int
}

private class Open: Counting, CustomStringConvertible {
    var count = 0
    var other = 0
    var list: [Int] = []
    var observed = 0 { didSet { keep(oldValue) } }
    lazy var late = 1
    @Wrapped var wrapped = 0
    nonisolated(unsafe) static var shared = 0
    var description = "a"
    func touch() { other = count }
    subscript(index: Int) -> Int {
        get { count }
        set { count = newValue }
    }
}

private class Overriding: Open {
    override var count: Int {
        get { super.count }
        set { super.count = newValue }
    }
    override var observed: Int { didSet { keep(oldValue) } }
}

private class Generic<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

private class Observing: Opened<String> {
    override var value: String { didSet { keep(oldValue) } }
}

private class Locked<Value: Sendable> {
    let lock: Mutex<Value>
    init(_ value: sending Value) { lock = Mutex(value) }
}

private func increment(_ number: inout Int) { number += 1 }

private func raise(_ counting: some Counting) {
    let seen = counting.count
    counting.count = seen + 1
    counting.count += 1
}

private func exchange<Value>(_ generic: Generic<Value>, _ value: Value) {
    let before = generic.value
    generic.value = value
    keep(before, generic.value)
}
