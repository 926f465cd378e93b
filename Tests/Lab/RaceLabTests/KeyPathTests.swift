import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// The lab finds out which variables a key path accesses before the standard library accesses them.
@Suite("The lab observes accesses through key paths", .needsTheLab)
struct KeyPathTests {
    struct Pair {
        var left = 0
        var right = 0
        var node: Node?
        var optional: Int? = 0
        var items = [0]
        var other = Other()
        var computed: Int {
            get { left }
            set { left = newValue }
        }
        var ofOther: Int {
            get { other.value }
            nonmutating set { other.value = newValue }
        }
    }

    final class Other {
        var value = 0
    }

    final class Node {
        var value = 0
        var pair = Pair()
        var next: Node?
        var count: Int?
        let constant = 0
        let fixed: Node?
        var computed: Int {
            get { value }
            set { value = newValue }
        }

        init(fixed: Node? = nil) { self.fixed = fixed }
    }

    class Base<Content> {
        var content: Content
        init(_ content: Content) { self.content = content }
    }

    final class Derived: Base<Int> {
        var own = 0
    }

    /// The kinds of finding when two threads perform these accesses.
    private static func findings<Root: AnyObject>(
        _ make: @escaping () -> Root, _ first: @escaping (Root) -> Void,
        _ second: @escaping (Root) -> Void
    ) -> [Exploration.Finding.Kind] {
        let exploration = explore { scenario in
            let (root, shared) = (make(), Shared())
            scenario.thread("first") {
                _ = shared.value
                first(root)
            }
            scenario.thread("second") {
                _ = shared.value
                second(root)
            }
        }
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        return Set(exploration.findings.map(\.kind)).sorted()
    }

    /// Compares each access through the key path with direct reads and writes of the same variable.
    private static func meets<Root: AnyObject, Value>(
        _ make: @escaping () -> Root, _ keyPath: ReferenceWritableKeyPath<Root, Value>,
        _ value: Value, read: @escaping (Root) -> Void, change: @escaping (Root) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let gets: (Root) -> Void = { _ = $0[keyPath: keyPath] }
        let partial: (Root) -> Void = { _ = $0[keyPath: keyPath as PartialKeyPath<Root>] }
        let sets: (Root) -> Void = { $0[keyPath: keyPath] = value }
        let modifies: (Root) -> Void = { keep(&$0[keyPath: keyPath]) }
        let lends: (Root) -> Void = { look($0[keyPath: keyPath]) }
        for reads in [gets, partial, lends] {
            #expect(findings(make, reads, read) == [], sourceLocation: sourceLocation)
            #expect(findings(make, reads, change) == [.dataRace], sourceLocation: sourceLocation)
            #expect(findings(make, reads, sets) == [.dataRace], sourceLocation: sourceLocation)
        }
        for changes in [sets, modifies] {
            #expect(findings(make, changes, read) == [.dataRace], sourceLocation: sourceLocation)
            #expect(
                findings(make, changes, change).contains(.overlap), sourceLocation: sourceLocation)
        }
    }

    /// A node with a node behind each reference, and a number.
    private static func linked() -> Node {
        let node = Node()
        node.next = Node()
        node.pair.node = Node()
        node.count = 0
        return node
    }

    @Test("a property, of an object behind a reference, an optional or a structure")
    func property() {
        Self.meets({ Node() }, \.value, 1, read: { _ = $0.value }, change: { $0.value = 2 })
        Self.meets(
            Self.linked, \.next!.value, 1, read: { _ = $0.next!.value },
            change: { $0.next!.value = 2 })
        Self.meets(
            Self.linked, \.pair.node!.value, 1, read: { _ = $0.pair.node!.value },
            change: { $0.pair.node!.value = 2 })
    }

    @Test("a member of a structure that is a property: an access to the whole property")
    func inStructure() {
        Self.meets(
            { Node() }, \.pair.right, 1, read: { _ = $0.pair }, change: { $0.pair.left = 2 })
    }

    /// Gets and sets a member of a value of any type.
    @dynamicMemberLookup
    final class Store<Content> {
        var content: Content
        init(_ content: Content) { self.content = content }
        subscript<Value>(dynamicMember keyPath: WritableKeyPath<Content, Value>) -> Value {
            get { content[keyPath: keyPath] }
            set { content[keyPath: keyPath] = newValue }
        }
    }

    @Test("a key path of a structure that is a property: an access to the whole property")
    func ofStructure() {
        let items: WritableKeyPath<Pair, [Int]> = \.items
        let keyPaths: [WritableKeyPath<Pair, Int>] = [
            \.left, \.optional!, \.items[0], items.appending(path: \[Int].[0]), \.other.value,
            \.node!.pair.left, \.computed, \.ofOther,
        ]
        for keyPath in keyPaths {
            let make = Self.linked
            let sets: (Node) -> Void = { $0.pair[keyPath: keyPath] = 1 }
            let increments: (Node) -> Void = { $0.pair[keyPath: keyPath] += 1 }
            for other in [sets, increments, { $0.pair.right = 1 }] {
                #expect(Self.findings(make, sets, other).contains(.overlap), "\(keyPath)")
            }
            let reads: (Node) -> Void = { _ = $0.pair }
            #expect(Self.findings(make, sets, reads).contains(.dataRace), "\(keyPath)")
            let lock = NSLock()
            let locked: (Node) -> Void = { node in lock.withLock { sets(node) } }
            #expect(Self.findings(make, locked, locked) == [], "\(keyPath)")
            #expect(Self.findings(make, locked, sets).contains(.overlap), "\(keyPath)")
        }
    }

    @Test("dynamic member lookup with a key path of a structure, in a generic class")
    func ofGeneric() {
        let make = { Store(Pair()) }
        let sets: (Store<Pair>) -> Void = { $0.left = 1 }
        #expect(Self.findings(make, sets, { $0.right = 1 }) == [.overlap])
        #expect(Self.findings(make, sets, { $0.right += 1 }).contains(.overlap))
        #expect(Self.findings(make, sets, { _ = $0.left }) == [.dataRace])
    }

    final class Unannounced {
        @exclusivity(unchecked) var pair = Pair()
        let memory = UnsafeMutablePointer<Pair>.allocate(capacity: 1)
        init() { memory.initialize(to: Pair()) }
        deinit {
            memory.deinitialize(count: 1)
            memory.deallocate()
        }
    }

    @Test("a member of a structure, set where nothing announces the access: the member alone")
    func unannounced() {
        let (left, right) = (\Pair.left, \Pair.right)
        let sets: (Unannounced) -> Void = { $0.pair[keyPath: left] = 1 }
        let setsDirectly: (Unannounced) -> Void = { $0.pair.left = 1 }
        let setsMemory: (Unannounced) -> Void = { $0.memory.pointee[keyPath: left] = 1 }
        #expect(Self.findings({ Unannounced() }, sets, setsDirectly) == [.overlap])
        #expect(Self.findings({ Unannounced() }, sets, sets) == [.overlap])
        #expect(Self.findings({ Unannounced() }, sets, { $0.pair[keyPath: right] = 1 }) == [])
        #expect(Self.findings({ Unannounced() }, setsMemory, setsMemory) == [.overlap])
        #expect(Self.findings({ Unannounced() }, sets, setsMemory) == [])
        let exploration = explore { scenario in
            scenario.thread("only") {
                nonisolated(unsafe) var pair = Pair()
                DispatchQueue.concurrentPerform(iterations: 2) { _ in pair[keyPath: left] = 1 }
            }
        }
        #expect(exploration.findings.map(\.kind) == [.overlap], "\(exploration.text())")
    }

    @Test("an optional that is unwrapped last: an access to the optional property")
    func unwrappedLast() {
        Self.meets(Self.linked, \.count!, 1, read: { _ = $0.count }, change: { $0.count = 2 })
        Self.meets(
            Self.linked, \.next!, Node(), read: { _ = $0.next }, change: { $0.next = Node() })
        let gets = Self.gets(\.next?.next!)
        #expect(Self.findings({ Node() }, gets, { $0.next = nil }) == [.dataRace])
    }

    @Test("appended key paths, and a generic class")
    func appended() {
        Self.meets(
            { Node() }, (\Node.pair as ReferenceWritableKeyPath).appending(path: \.left), 1,
            read: { _ = $0.pair }, change: { $0.pair.left = 2 })
        Self.meets(
            { Base(0) }, \.content, 1, read: { look($0.content) }, change: { $0.content = 2 })
        Self.meets(
            { Derived(0) }, \.content, 1, read: { look($0.content) }, change: { $0.content = 2 })
        Self.meets({ Derived(0) }, \.own, 1, read: { _ = $0.own }, change: { $0.own = 2 })
    }

    @Test("a computed property: the accesses that it makes")
    func computed() {
        Self.meets({ Node() }, \.computed, 1, read: { _ = $0.value }, change: { $0.value = 2 })
        Self.meets(
            { Node() }, \.pair.computed, 1, read: { _ = $0.pair }, change: { $0.pair.left = 2 })
    }

    // The compiler turns a key path that is written where it is used into a direct access. One
    // that is passed as an argument remains a key path.
    private static func gets<Value>(_ keyPath: KeyPath<Node, Value>) -> (Node) -> Void {
        { _ = $0[keyPath: keyPath] }
    }

    private static func sets<Value>(
        _ keyPath: ReferenceWritableKeyPath<Node, Value>, _ value: Value
    ) -> (Node) -> Void {
        { $0[keyPath: keyPath] = value }
    }

    class CanBeInherited {
        var node = Node()
        final var sealed = Node()
        final weak var weakly: Node?
    }

    @Test("properties that can be overridden are accessed by code, which is not observed")
    func behindCode() {
        let make = {
            let root = CanBeInherited()
            root.weakly = root.sealed
            return root
        }
        func gets(_ keyPath: KeyPath<CanBeInherited, Int?>) -> (CanBeInherited) -> Void {
            { _ = $0[keyPath: keyPath] }
        }
        let changes: (CanBeInherited) -> Void = {
            $0.node.value = 1
            $0.sealed.value = 1
        }
        #expect(Self.findings(make, gets(\.node.next?.value), { $0.node.next = nil }) == [])
        #expect(Self.findings(make, gets(\.weakly?.value), changes) == [])
        #expect(
            Self.findings(make, gets(\.sealed.next?.value), { $0.sealed.next = nil }) == [.dataRace]
        )
        #expect(Self.findings(make, gets(\.node.next?.value), { $0.node = Node() }) == [.dataRace])
    }

    @Test("the properties on the way to the last one are only read")
    func wayIsRead() {
        let sets = Self.sets(\.next!.value, 1)
        #expect(Self.findings(Self.linked, sets, { _ = $0.next }) == [])
        #expect(Self.findings(Self.linked, sets, { $0.next = Node() }) == [.dataRace])
        #expect(Self.findings(Self.linked, sets, { _ = $0.value }) == [])
    }

    @Test("after an empty optional, nothing is accessed")
    func emptyOptional() {
        let gets = Self.gets(\.next?.next?.value)
        let behindAStructure = Self.gets(\.pair.node?.value)
        #expect(Self.findings({ Node() }, gets, { $0.next = nil }) == [.dataRace])
        #expect(Self.findings({ Node() }, behindAStructure, { $0.value = 1 }) == [])
        #expect(Self.findings({ Node() }, behindAStructure, { $0.pair.left = 1 }) == [.dataRace])
    }

    @Test("constants are not accesses to shared variables")
    func constants() {
        let explored = [\Node.constant, \.value, \.fixed!.value].map { keyPath in
            explore(options: .everyOrder) { scenario in
                let (node, shared) = (Node(fixed: Node()), Shared())
                scenario.thread("first") {
                    _ = node[keyPath: keyPath]
                    shared.value = 1
                }
                scenario.thread("second") { shared.other = 1 }
            }.explored
        }
        #expect(explored == [2, 3, 3])
    }

    @Test("a key path is followed when its step runs")
    func changingWay() {
        let exploration = explore { scenario in
            let (node, seen) = (Node(), Seen())
            node.next = Node()
            let value = \Node.next!.value
            scenario.thread("first") { seen.note("\(node[keyPath: value])") }
            scenario.thread("second") {
                let other = Node()
                other.value = 1
                node.next = other
                other.value = 2
            }
            scenario.outcome { seen.text }
        }
        #expect(Set(exploration.outcomes.keys) == ["0", "1", "2"])
        #expect(exploration.findings.contains { $0.kind == .dataRace })
    }

    @Test("map with a key path, and dynamic member lookup")
    func otherUses() {
        @dynamicMemberLookup
        struct Reference {
            let node: Node
            subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Node, Value>) -> Value
            {
                get { node[keyPath: keyPath] }
                nonmutating set { node[keyPath: keyPath] = newValue }
            }
        }
        let maps: (Node) -> Void = { _ = [$0].map(\.value) }
        let sets: (Node) -> Void = { Reference(node: $0).value = 1 }
        #expect(Self.findings({ Node() }, maps, { $0.value = 1 }) == [.dataRace])
        #expect(Self.findings({ Node() }, sets, { $0.value = 1 }).contains(.overlap))
        #expect(Self.findings({ Node() }, maps, sets) == [.dataRace])
    }
}

private func keep<Value>(_ value: inout Value) {}
private func look<Value>(_ value: borrowing Value) {}
