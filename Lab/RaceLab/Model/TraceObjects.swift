import CRaceLab

extension Exploration.Trace {
    /// The named instances of a class of which several take part in an interleaving.
    public struct Owners: Codable, Hashable, Sendable {
        /// The class, without its generic arguments.
        public let type: String
        /// The names of its instances, as in ``Trace/Step/owner``.
        public let names: [String]
    }

    /// An instance of a class, identified by how it was created, which is the same in every
    /// interleaving.
    package struct Instance: Codable, Hashable, Sendable, Comparable {
        /// The class, without its generic arguments.
        package let type: String
        /// The thread that created it; `nil` if it was created during the set-up.
        package let maker: Int?
        /// The number of instances of this class that its maker had created before.
        package let number: Int
        /// The name of the constant, variable or property to which it is assigned where it is
        /// created.
        package let name: String?

        package static func < (first: Instance, second: Instance) -> Bool {
            // What threads create depends on the interleaving, so it comes last.
            (first.maker == nil ? 0 : 1, first.type, first.maker ?? 0, first.number)
                < (second.maker == nil ? 0 : 1, second.type, second.maker ?? 0, second.number)
        }
    }

    var titles: [String] { Exploration.Trace.titles(of: columns, owners: columnOwners) }

    private static let whatOrders =
        "An old value can be read where nothing orders the newer store before the read. Either of "
        + "these orders it: the storing thread releases at or after the store, and the reading "
        + "thread acquires that before the read; or stores and reads on both sides are "
        + "sequentially consistent."

    /// Explains old values, the names and the line numbers.
    var legend: [String] {
        let old = steps.enumerated().filter { $1.old != nil }.map { index, step in
            "Step \(index + 1) \(step.remark(threads: threads))."
        }
        return old + (old.isEmpty ? [] : [Self.whatOrders])
            + owners.map { "\($0.names.joined(separator: ", ")): \($0.type)" }
            + (mostFrequentFile.map { ["Line numbers refer to \($0)."] } ?? [])
    }

    /// Names the instances that take part, where there are several of one class.
    mutating func name(_ objects: Objects, touched: [Set<UInt>]) {
        for index in steps.indices { steps[index].instance = objects.ownersOfSteps[index] }
        for index in waiting.indices {
            waiting[index].instance = objects.ownersOfWaiting[waiting[index].thread]
        }
        madeInSetUp = objects.madeInSetUp
        columnInstances = touched.map { Set($0.compactMap { objects.owner(of: $0) }) }
        let names = InstanceNames(
            steps.compactMap(\.instance) + waiting.compactMap(\.instance),
            madeInSetUp: madeInSetUp, threads: threads)
        for index in steps.indices {
            let instance = steps[index].instance
            if steps[index].kind == .arrive { steps[index].actor = instance?.type }
            steps[index].owner = instance.flatMap { names[$0] }
        }
        for index in waiting.indices {
            waiting[index].owner = waiting[index].instance.flatMap { names[$0] }
        }
        columnOwners = columnInstances.map { names.only(of: $0) }
        owners = names.owners
    }

    /// The titles of the state columns, each with the instance that it shows.
    package static func titles(of columns: [String], owners: [String?]) -> [String] {
        columns.enumerated().map { index, column in
            let owner = owners.indices.contains(index) ? owners[index] : nil
            guard let owner, !column.contains(owner) else { return column }
            return "\(owner).\(column)"
        }
    }
}

/// Names for instances of classes of which several take part in interleavings. The names do not
/// depend on the order in which the instances are accessed. The name of an instance created during
/// the set-up does not even depend on which other instances are accessed. No name is the letter of
/// a thread.
package struct InstanceNames {
    private var names: [Exploration.Trace.Instance: String] = [:]
    package private(set) var owners: [Exploration.Trace.Owners] = []

    package init(
        _ instances: some Sequence<Exploration.Trace.Instance>,
        madeInSetUp: Set<Exploration.Trace.Instance>, threads: [String]
    ) {
        let touched = Dictionary(grouping: Set(instances), by: \.type)
        let named = Dictionary(grouping: madeInSetUp.union(instances), by: \.type)
            .values.filter { $0.count > 1 }.flatMap(\.self).sorted()
        let lettersOfThreads = Exploration.Schedule.letters(for: threads)
        var letters = "PQRSTUVWXYZABCDEFGHIJKLMNO".filter { !lettersOfThreads.contains($0) }
            .map(String.init).makeIterator()
        for (number, instance) in named.enumerated() {
            // Its name in the source, if that distinguishes it.
            let isUnique = named.allSatisfy {
                $0 == instance || $0.name != instance.name
                    || $0.maker != nil && instance.maker == nil
            }
            names[instance] =
                (isUnique ? instance.name : nil) ?? letters.next() ?? "object \(number + 1)"
        }
        names = names.filter { touched[$0.key.type]?.count ?? 0 > 1 }
        owners = touched.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
            Exploration.Trace.Owners(type: $0, names: $1.sorted().compactMap { names[$0] })
        }
    }

    package subscript(instance: Exploration.Trace.Instance) -> String? { names[instance] }

    /// The name of the only named instance among these; `nil` if there is none or more than one.
    package func only(of instances: Set<Exploration.Trace.Instance>) -> String? {
        let named = instances.compactMap { names[$0] }
        return named.count == 1 ? named[0] : nil
    }
}

/// The instances of classes that were created in a run.
struct Objects {
    typealias Instance = Exploration.Trace.Instance

    private let all: [rl_object]
    /// For each object, the number of instances of its class that its maker had created before.
    private let numbers: [Int]
    private let sites: [UInt: Exploration.Site]
    private var instances: [UInt: Instance] = [:]
    private(set) var ownersOfSteps: [Instance?] = []
    /// The instances of the same classes created during the set-up, accessed or not.
    private(set) var madeInSetUp: Set<Instance> = []
    /// For each thread, the instance that it waits for or was about to access.
    private(set) var ownersOfWaiting: [Instance?] = []

    /// Call this at the beginning of judging the run, while its objects still exist.
    init(of run: rl_run) {
        let all = Array(UnsafeBufferPointer(start: run.objects, count: run.object_count))
        // Cached, because many steps access the same object.
        var found: [UInt: rl_object?] = [:]
        func object(at address: UInt) -> rl_object? {
            if let object = found[address] { return object }
            let object = Objects.object(at: address, in: all)
            found.updateValue(object, forKey: address)
            return object
        }
        let steps = run.allSteps.map {
            $0.kind == RL_NOTE.rawValue ? nil : object(at: UInt($0.address))
        }
        let waiting = run.allWaiting.map { object(at: UInt($0.address)) }
        self.all = all
        let origins = Objects.origins(of: all)
        numbers = origins.map(\.number)
        let touched = (steps + waiting).compactMap(\.self)
        let classes = Set(touched.map { origins[$0.order].type }).subtracting([""])
        let inSetUp = all.filter { $0.maker < 0 && classes.contains(origins[$0.order].type) }
        sites = Symbols.sites(of: Set((touched + inSetUp).map { UInt($0.pc) }))
        madeInSetUp = Set(inSetUp.map(instance))
        for object in touched {
            let address = UInt(object.address)
            instances[address] = instances[address] ?? instance(object)
        }
        ownersOfSteps = steps.map { $0.flatMap { instances[UInt($0.address)] } }
        ownersOfWaiting = waiting.map { $0.flatMap { instances[UInt($0.address)] } }
    }

    /// The instance that contains this address, or refers to the lock at it; `nil` unless a step
    /// accesses the instance or a thread waits for it.
    func owner(of address: UInt) -> Instance? {
        Objects.object(at: address, in: all).flatMap { instances[UInt($0.address)] }
    }

    private static func object(at address: UInt, in all: [rl_object]) -> rl_object? {
        guard address != 0 else { return nil }  // a step without an address
        // The last match, because memory freed during the set-up may have been reused.
        let object = all.last { address >= $0.address && address - $0.address < $0.size }
        guard let object else {
            // A Foundation lock has memory of its own; the object has a pointer to it.
            return all.last { refers($0, to: address) }.flatMap { Objects.user(of: $0, in: all) }
        }
        return user(of: object, in: all)
    }

    /// The object itself; for an object of a library, such as an `NSLock`, the object that refers
    /// to it.
    private static func user(of object: rl_object, in all: [rl_object]) -> rl_object {
        guard isOfLibrary(object) else { return object }
        let user = all.last { refers($0, to: UInt(object.address)) && !isOfLibrary($0) }
        return user ?? object
    }

    /// Caches the slowest parts of making a trace; their results never change.
    struct Known {
        /// The key is the address of the metadata of a class.
        var ofLibrary: [UInt: Bool] = [:]
        /// The name to which a line of source assigns an instance of a class.
        var assigned: [[String]: String?] = [:]
    }

    /// Held while the process forks, see ``Symbols/hold()``.
    static let known = ForkSafeLock(Known())

    private static func isOfLibrary(_ object: rl_object) -> Bool {
        let type = UInt(bitPattern: object.type)
        return known.withLock { known in
            if let isOfLibrary = known.ofLibrary[type] { return isOfLibrary }
            // The metadata of a generic class is allocated by the standard library, so its address
            // says nothing. But the function that destroys an instance, two words before it, is
            // code of the class.
            let metadata = UnsafePointer<UInt>(bitPattern: type)
            let isOfLibrary = metadata.map { !rl_is_of_program($0[-2]) } ?? true
            known.ofLibrary[type] = isOfLibrary
            return isOfLibrary
        }
    }

    private static func className(_ type: UnsafeRawPointer) -> String {
        String("\(unsafeBitCast(type, to: Any.Type.self))".prefix { $0 != "<" })
    }

    /// For each object, its class and the number of instances of this class that its maker had
    /// created before.
    private static func origins(of all: [rl_object]) -> [(type: String, number: Int)] {
        struct Origin: Hashable {
            let type: String
            let maker: Int32
        }
        var names: [UnsafeRawPointer?: String] = [:]
        var counts: [Origin: Int] = [:]
        return all.map { object in
            // The names of library classes are not looked up; they are counted together.
            let type = names[object.type] ?? (isOfLibrary(object) ? "" : className(object.type))
            names[object.type] = type
            let origin = Origin(type: type, maker: object.maker)
            defer { counts[origin, default: 0] += 1 }
            return (type, counts[origin, default: 0])
        }
    }

    private static func refers(_ object: rl_object, to address: UInt) -> Bool {
        guard let words = UnsafePointer<UInt>(bitPattern: UInt(object.address)) else {
            return false
        }
        let count = object.size / MemoryLayout<UInt>.size
        // A loop, because closures are slow in a debug build.
        var index = 2
        while index < count {
            if words[index] == address { return true }
            index += 1
        }
        return false
    }

    private func instance(_ object: rl_object) -> Instance {
        let site = sites[UInt(object.pc)]
        let line = site.flatMap { SourceText.line($0.line, of: $0.path) }
        let type = Objects.className(object.type)
        return Instance(
            type: type,
            maker: object.maker < 0 ? nil : Int(object.maker), number: numbers[object.order],
            name: line.flatMap { Objects.assignedName(in: $0, of: type) })
    }

    /// `next` in `let next = AWPromise<Int>()` and in `self.next = …`.
    private static func assignedName(in line: String, of type: String) -> String? {
        known.withLock { known in
            let key = [line, type]
            if let name = known.assigned[key] { return name }
            let name = parsedName(in: line, of: type)
            known.assigned.updateValue(name, forKey: key)
            return name
        }
    }

    static func parsedName(in line: String, of type: String) -> String? {
        let pattern =
            #/^(?:(?:private|fileprivate|public|package|internal|final|static|lazy|weak|nonisolated\(unsafe\))\s+)*(?:(?:let|var)\s+|self\.)?([\p{L}_][\p{L}\p{N}_]*)\s*(?::[^=]*)?=[^=]/#
        guard let first = line.firstMatch(of: pattern) else { return nil }
        // In `let a = A(), b = B()`, the one whose value names the class.
        let next = #/,\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?::[^=,]*)?=[^=]/#
        let others = line.matches(of: next)
        guard !others.isEmpty else { return String(first.1) }
        let ends = others.map(\.range.lowerBound) + [line.endIndex]
        let names = [first.1] + others.map(\.1)
        let ofType = zip(names, ends).filter { name, end in
            line[name.endIndex..<end].contains(type)
        }
        return ofType.count == 1 ? String(ofType[0].0) : nil
    }
}
