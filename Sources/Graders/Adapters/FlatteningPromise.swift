import SharedSuite

// Compiled together with `Promise.swift` and an answer whose `then` flattens.

extension AWPromise: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> AWPromise<Int>
    ) -> AWPromise<Int> {
        self.then { value -> AWPromise<Int> in try function(value) }
    }
}
