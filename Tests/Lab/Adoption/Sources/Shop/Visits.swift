/// A data race: nothing orders the accesses to the count.
public final class Visits {
    public private(set) var count = 0

    public init() {}

    public func add() { count += 1 }
}
