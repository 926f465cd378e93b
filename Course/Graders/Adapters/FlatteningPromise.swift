import Graders
import SharedSuite

// Compiled together with `Promise.swift` and an answer whose `then` flattens.

extension AWPromise: FlatteningPromise where Value == Int {
    public func flatMapping(
        _ function: @escaping (Int) throws -> AWPromise<Int>
    ) -> AWPromise<Int> {
        self.then { value -> AWPromise<Int> in try function(value) }
    }
}

extension AWPromise: ConvertingPromise where Value == Int {
    public static func converting(
        _ hear: @escaping (String) -> Void
    ) -> (resolve: (Int) -> Void, text: PendingPromise<String>) {
        let (number, resolve, _) = pending()
        let (inner, text) = AWPromise<String>.withFunctions()
        number.then { _ -> AWPromise<String> in inner }
            .then { hear("value \($0)") }.error { hear("error \($0)") }
        return (resolve, text)
    }
}
