import PromiseOperators
import RaceLab
import Testing

@Suite("Creating promises")
struct MakingTests {
    @Test("promises that are settled from the start")
    func settled() {
        #expect(AWPromise.fulfilled(7).settledValue == 7)
        #expect(AWPromise<Int>.rejected(Trouble.here).trouble == .here)
    }

    @Test("a resolver returns whether its call was the first")
    func firstToSettle() {
        let (promise, resolver) = AWPromise<Int>.pending()
        #expect(resolver.settle(.success(1)))
        #expect(!resolver.settle(.success(2)))
        #expect(!resolver.settle(.failure(Trouble.here)))
        #expect(promise.settledValue == 1)
    }

    @Test("attempt runs at once, and accepts a value, a promise, or an error")
    func attempt() {
        #expect(AWPromise.attempt { 7 }.settledValue == 7)
        #expect(AWPromise.attempt { AWPromise.fulfilled(8) }.settledValue == 8)
        #expect(AWPromise.attempt { () -> Int in throw Trouble.here }.trouble == .here)
    }

    @Test("completion handlers with a value or an error: all four cases")
    func valueOrError() {
        typealias Done = @Sendable (Int?, (any Error)?) -> Void
        let value = AWPromise<Int>.wrap { (done: Done) in done(7, nil) }
        let error = AWPromise<Int>.wrap { (done: Done) in done(nil, Trouble.here) }
        let both = AWPromise<Int>.wrap { (done: Done) in done(7, Trouble.here) }
        let neither = AWPromise<Int>.wrap { (done: Done) in done(nil, nil) }
        #expect(value.settledValue == 7)
        #expect(error.trouble == .here)
        #expect(both.trouble == .here)
        #expect(words(neither.failure) == "neitherValueNorError")
    }

    @Test("functions with a completion handler are wrapped without naming their types")
    func inference() {
        @Sendable func load(_ done: @escaping @Sendable (Int?, (any Error)?) -> Void) {
            done(7, nil)
        }
        @Sendable func ask(_ done: @escaping @Sendable (Result<String, Trouble>) -> Void) {
            done(.failure(.there))
        }
        #expect(AWPromise<Int>.wrap { load($0) }.settledValue == 7)
        #expect(AWPromise<Int>.wrap(load).settledValue == 7)
        #expect(AWPromise<String>.wrap { ask($0) }.trouble == .there)
        #expect(AWPromise<String>.wrap(ask).trouble == .there)
    }

    @Test("a wrapped function may throw, call twice, or not at all")
    func misbehaviour() {
        typealias Done = @Sendable (Int?, (any Error)?) -> Void
        let thrown = AWPromise<Int>.wrap { (_: Done) in throw Trouble.here }
        let twice = AWPromise<Int>.wrap { (done: Done) in
            done(7, nil)
            done(8, nil)
        }
        let never = AWPromise<Int>.wrap { (_: Done) in }
        #expect(thrown.trouble == .here)
        #expect(twice.settledValue == 7)
        #expect(words(never.failure) == "abandoned")
    }
}
