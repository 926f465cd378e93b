import Graders
import SharedSuite

// Compiled together with an answer to a bug hunt, and with the promise as it was.

extension AWPromise: PromiseUnderTest where Value == Int {
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

extension Suspect: PromiseUnderTest where Value == Int {
    public static func working(
        _ work: (@escaping (Int) -> Void, @escaping (any Error) -> Void) -> Void
    ) -> Suspect<Int> {
        Suspect<Int> { resolve, reject in work(resolve, reject) }
    }

    public func mapping(_ function: @escaping (Int) throws -> Int) -> Suspect<Int> {
        self.then(function)
    }

    public func ending(_ function: @escaping (any Error) -> Void) {
        self.error(function)
    }

    public var outcome: Result<Int, any Error>? { self.result }

    public var fields: [(title: String, value: String)] { storedFields(of: self, self.result) }
}

final class TheAnswer: BugHuntAnswer {
    var promise: any PromiseUnderTest.Type { AWPromise<Int>.self }
    var suspect: any PromiseUnderTest.Type { Suspect<Int>.self }
    let hazard = BugReport.hazard
    let schedule = BugReport.schedule
}

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(TheAnswer()).toOpaque()
}
