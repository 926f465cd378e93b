import Foundation
import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization
import Testing

/// The dispatcher of these tests, unless a test is about another one.
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

    /// The error, if it is a ``Trouble``.
    var trouble: Trouble? { failure as? Trouble }
}

/// The description of an error. Errors of operators contain others, which cannot be compared.
func words(_ error: (any Error)?) -> String {
    error.map { "\($0)" } ?? "no error"
}

/// The outcomes that the observer of a promise receives.
func ends<Value>(of promise: AWPromise<Value>) -> Scenario.Log<String> {
    let ends = Scenario.Log<String>()
    promise.observe(on: here) { outcome in
        switch outcome {
        case .success(let value): ends.append("fulfilled \(value)")
        case .failure(let error): ends.append("rejected \(error)")
        }
    }
    return ends
}

/// Explores a scenario, and expects that it survives and has more than one interleaving.
///
/// Uses reduction, which leaves out permutations of independent steps. An operator has several
/// promises, so these would multiply the interleavings.
///
/// - Parameter sample: For a scenario whose interleavings take half a minute: explores only those
///   with at most this many preemptions, unless `EVERY_CASE` is set.
@discardableResult
func expectSurvival(
    sample: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ describe: @escaping (Scenario) -> Void
) -> Exploration {
    var options = Exploration.Options()
    options.preemptionBound = everyCaseIsTested ? nil : sample
    let exploration = explore(options: options, describe)
    let coverage = options.preemptionBound.map(Exploration.Coverage.atMost) ?? .all
    let summary = Comment(rawValue: exploration.summary)
    #expect(exploration.inconclusive == nil, summary, sourceLocation: sourceLocation)
    #expect(exploration.failing == 0, summary, sourceLocation: sourceLocation)
    #expect(exploration.coverage == coverage, sourceLocation: sourceLocation)
    #expect(exploration.explored > 1, sourceLocation: sourceLocation)
    return exploration
}

/// A number that several threads may modify.
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
