import Foundation
import PromiseOperators
import RaceLab
import Synchronization
import Testing

/// Where the handlers of these tests run, unless a test is about something else.
let here = ImmediateDispatcher()

/// The errors of these tests.
enum Trouble: Error, Hashable {
    case here, there, elsewhere
}

extension AWPromise {
    /// The value, if the promise is fulfilled.
    var settledValue: Value? { try? result?.get() }

    /// The error, if the promise is rejected.
    var failure: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }

    /// The error, if it is one of these tests'.
    var trouble: Trouble? { failure as? Trouble }
}

/// What went wrong, in words: operators' errors carry others, which cannot be compared.
func words(_ error: (any Error)?) -> String {
    error.map { "\($0)" } ?? "no error"
}

/// Runs `body` on a thread of its own, and returns when it has: what blocks must not do so on a
/// thread of the test library's pool.
func onOwnThread<Answer: Sendable>(
    _ body: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result { try body() })
        }
    }
}

/// Explores all interleavings, and expects that all of them survive and that there is a choice.
///
/// Those that differ only in the order of steps which do not touch the same thing are explored
/// once: an operator has several promises, and what happens to each multiplies.
@discardableResult
func expectSurvival(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ describe: @escaping (Scenario) -> Void
) -> Exploration {
    var options = Exploration.Options()
    options.reduction = true
    let report = explore(options: options, describe)
    #expect(report.survives, "\(report.summary)", sourceLocation: sourceLocation)
    #expect(report.coverage == .all, sourceLocation: sourceLocation)
    #expect(report.explored > 1, sourceLocation: sourceLocation)
    return report
}

/// A number that several threads may change.
final class Number: Sendable {
    private let number: Mutex<Int>

    init(_ number: Int) {
        self.number = Mutex(number)
    }

    var value: Int { number.withLock { $0 } }

    func change(_ change: (inout Int) -> Void) {
        number.withLock { change(&$0) }
    }
}
