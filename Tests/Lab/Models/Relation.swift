/// A relation between the events of an execution: for each event, the set of those that follow it.
struct Relation {
    private var rows: [UInt32]

    init(_ count: Int) { rows = [UInt32](repeating: 0, count: count) }

    var count: Int { rows.count }

    subscript(from: Int, to: Int) -> Bool {
        get { rows[from] >> UInt32(to) & 1 == 1 }
        set {
            if newValue { rows[from] |= 1 << UInt32(to) } else { rows[from] &= ~(1 << UInt32(to)) }
        }
    }

    /// The pairs of a relation that `isIncluded` accepts.
    func filter(_ isIncluded: (Int, Int) -> Bool) -> Relation {
        var result = Relation(count)
        for from in 0..<count where rows[from] != 0 {
            for to in 0..<count where self[from, to] && isIncluded(from, to) {
                result[from, to] = true
            }
        }
        return result
    }

    /// With every event related to itself as well.
    var reflexive: Relation {
        var result = self
        for event in 0..<count { result[event, event] = true }
        return result
    }

    var transitive: Relation {
        var result = self
        for middle in 0..<count {
            for from in 0..<count where result[from, middle] {
                result.rows[from] |= result.rows[middle]
            }
        }
        return result
    }

    var isAcyclic: Bool {
        let closure = transitive
        return !(0..<count).contains { closure[$0, $0] }
    }

    static func | (one: Relation, other: Relation) -> Relation {
        var result = one
        for event in 0..<one.count { result.rows[event] |= other.rows[event] }
        return result
    }

    /// First a pair of one relation, then a pair of the other.
    static func * (one: Relation, other: Relation) -> Relation {
        var result = Relation(one.count)
        for from in 0..<one.count where one.rows[from] != 0 {
            for middle in 0..<one.count where one[from, middle] {
                result.rows[from] |= other.rows[middle]
            }
        }
        return result
    }
}
