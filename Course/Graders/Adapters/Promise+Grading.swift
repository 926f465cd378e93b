import Graders
import SharedSuite

// Compiled together with an answer that is a promise class; and again, under another name, with the
// original promise of exercise 12.

extension AWPromise: SharedSuite.PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> AWPromise<Int> {
        AWPromise<Int> { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> AWPromise<Int> {
        self.then(function)
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        self.error(function)
    }

    public var outcome: Result<Int, any Error>? { self.result }

    public var fields: [(title: String, value: String)] { storedFields(of: self, self.result) }
}
