import CRaceLab

extension Exploration.Trace {
    /// The instances of a class, where several of them take part in an interleaving.
    public struct Owners: Codable, Hashable, Sendable {
        /// The class, without the types for which it is specialized.
        public let type: String
        /// The names of its instances, as they stand in ``Trace/Step/owner``.
        public let names: [String]
    }

    /// The titles of the state columns, with the instance that each shows.
    var titles: [String] {
        columns.indices.map { column in
            let owner = columnOwners.indices.contains(column) ? columnOwners[column] : nil
            guard let owner, !columns[column].contains(owner) else { return columns[column] }
            return "\(owner).\(columns[column])"
        }
    }

    /// Says which names stand for what.
    var legend: [String] {
        owners.map { "\($0.names.joined(separator: ", ")): \($0.type)" }
            + (mostFrequentFile.map { ["Line numbers refer to \($0)."] } ?? [])
    }

    /// Names the instances that the steps touch, where there are several of one class.
    mutating func name(_ objects: Objects, touched: [Set<UInt>]) {
        let owners = objects.ownersOfSteps + waiting.map { objects.ownersOfWaiting[$0.thread] }
        var classes: [(type: String, instances: [Objects.Instance])] = []
        for owner in owners.compactMap(\.self) {
            guard let index = classes.firstIndex(where: { $0.type == owner.type }) else {
                classes.append((owner.type, [owner]))
                continue
            }
            if !classes[index].instances.contains(owner) { classes[index].instances.append(owner) }
        }
        classes.removeAll { $0.instances.count < 2 }
        let names = Exploration.Trace.names(of: classes.flatMap(\.instances))
        for index in steps.indices where steps[index].kind == .arrive {
            steps[index].actor = owners[index]?.type
        }
        for index in steps.indices { steps[index].owner = owners[index].flatMap { names[$0] } }
        for index in waiting.indices {
            waiting[index].owner = owners[steps.count + index].flatMap { names[$0] }
        }
        columnOwners = touched.map { addresses in
            let named = Set(addresses.compactMap { objects.owner(of: $0) }).compactMap { names[$0] }
            return named.count == 1 ? named[0] : nil
        }
        self.owners = classes.map { type, instances in
            Owners(type: type, names: instances.compactMap { names[$0] })
        }
    }

    /// The names that they have in the source, where these tell them apart; letters otherwise.
    private static func names(of instances: [Objects.Instance]) -> [Objects.Instance: String] {
        let inSource = instances.map(\.name)
        var letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map(String.init).makeIterator()
        var names: [Objects.Instance: String] = [:]
        for (number, instance) in instances.enumerated() {
            let name = inSource[number]
            let isUnique = name != nil && inSource.count { $0 == name } == 1
            names[instance] = isUnique ? name : letters.next() ?? "object \(number + 1)"
        }
        return names
    }
}

/// The instances of classes that were made in a run.
struct Objects {
    struct Instance: Hashable {
        let address: UInt
        let type: String
        /// That of the constant, variable or property to which it is assigned where it is made.
        let name: String?
    }

    private let all: [rl_object]
    private let sites: [UInt: Exploration.Site]
    private var instances: [UInt: Instance] = [:]
    private(set) var ownersOfSteps: [Instance?] = []
    /// Of what each thread waits for, or was about to touch.
    private(set) var ownersOfWaiting: [Instance?] = []

    /// While the run is being judged: until then, nothing that it has made is freed.
    init(of run: rl_run) {
        let all = Array(UnsafeBufferPointer(start: run.objects, count: run.object_count))
        // Many steps touch the same thing.
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
        sites = Symbols.sites(of: Set((steps + waiting).compactMap { $0.map { UInt($0.pc) } }))
        for object in (steps + waiting).compactMap(\.self) {
            let address = UInt(object.address)
            instances[address] = instances[address] ?? instance(object)
        }
        ownersOfSteps = steps.map { $0.flatMap { instances[UInt($0.address)] } }
        ownersOfWaiting = waiting.map { $0.flatMap { instances[UInt($0.address)] } }
    }

    /// The instance that has a property, or the lock that a property refers to; only of those that
    /// steps touch.
    func owner(of address: UInt) -> Instance? {
        Objects.object(at: address, in: all).flatMap { instances[UInt($0.address)] }
    }

    private static func object(at address: UInt, in all: [rl_object]) -> rl_object? {
        // Memory that was freed while the scenario was set up may have been used again.
        let object = all.last { address >= $0.address && address - $0.address < $0.size }
        guard let object else {
            // A lock of Foundation is in memory of its own, to which the object has a pointer.
            return all.last { refers($0, to: address) }.flatMap { Objects.user(of: $0, in: all) }
        }
        return user(of: object, in: all)
    }

    /// The object itself; for one of the libraries, such as an `NSLock`, the one that has it.
    private static func user(of object: rl_object, in all: [rl_object]) -> rl_object {
        guard isOfLibrary(object) else { return object }
        let user = all.last { refers($0, to: UInt(object.address)) && !isOfLibrary($0) }
        return user ?? object
    }

    /// What takes longer to find out than everything else about a trace, and does not change.
    private struct Known {
        /// By the metadata of a class.
        var ofLibrary: [UInt: Bool] = [:]
        /// The names that are assigned to in a line of source.
        var assigned: [String: String?] = [:]
    }

    private static let known = ForkSafeLock(Known())

    /// While the process is copied, see ``Symbols/hold()``.
    static func hold() { known.hold() }
    static func release() { known.release() }

    private static func isOfLibrary(_ object: rl_object) -> Bool {
        let type = UInt(bitPattern: object.type)
        return known.withLock { known in
            if let isOfLibrary = known.ofLibrary[type] { return isOfLibrary }
            // The metadata of a generic class is made by the standard library, in memory of its own.
            // The function that destroys an instance, two words before it, is code of the class.
            let metadata = UnsafePointer<UInt>(bitPattern: type)
            let isOfLibrary = metadata.map { !rl_is_of_program($0[-2]) } ?? true
            known.ofLibrary[type] = isOfLibrary
            return isOfLibrary
        }
    }

    private static func refers(_ object: rl_object, to address: UInt) -> Bool {
        guard let words = UnsafePointer<UInt>(bitPattern: UInt(object.address)) else {
            return false
        }
        let count = object.size / MemoryLayout<UInt>.size
        // Without closures, which take their time in a debug build.
        var index = 2
        while index < count {
            if words[index] == address { return true }
            index += 1
        }
        return false
    }

    private func instance(_ object: rl_object) -> Instance {
        let type = unsafeBitCast(object.type, to: Any.Type.self)
        let site = sites[UInt(object.pc)]
        let line = site.flatMap { SourceText.line($0.line, of: $0.path) }
        return Instance(
            address: UInt(object.address),
            type: String("\(type)".prefix { $0 != "<" }),
            name: line.flatMap(Objects.assignedName))
    }

    /// `next` in `let next = AWPromise<Int>()` and in `self.next = …`.
    private static func assignedName(in line: String) -> String? {
        known.withLock { known in
            if let name = known.assigned[line] { return name }
            let name = parsedName(in: line)
            known.assigned.updateValue(name, forKey: line)
            return name
        }
    }

    private static func parsedName(in line: String) -> String? {
        let pattern =
            #/^(?:(?:private|fileprivate|public|package|internal|final|static|lazy|weak|nonisolated\(unsafe\))\s+)*(?:(?:let|var)\s+|self\.)?([\p{L}_][\p{L}\p{N}_]*)\s*(?::[^=]*)?=[^=]/#
        return line.firstMatch(of: pattern).map { String($0.1) }
    }
}
