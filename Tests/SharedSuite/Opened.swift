/// A class of another module that can be overridden: its properties are reached through accessors.
open class Opened<Value> {
    open var value: Value
    open var observed = 0 { didSet { if observed < oldValue { isLess = true } } }
    open var isLess = false

    public init(_ value: Value) {
        self.value = value
    }

    open subscript(offset: Int) -> Int {
        get { observed + offset }
        set { observed = newValue - offset }
    }
}
