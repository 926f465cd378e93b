import Foundation
import PromiseOperators
import RaceLab
import SharedSuite

// What exercises 8 to 10 compare: the outcomes that the observers of promises receive.

/// How a program settles a promise. Its value, or the number of its error.
enum Settling: Hashable, Sendable, CustomStringConvertible {
    case fulfill(Int)
    case reject(Int)

    /// What an observer receives.
    var received: String {
        switch self {
        case .fulfill(let value): "fulfilled \(value)"
        case .reject(let number): "rejected \(Settling.error(number))"
        }
    }

    /// The number of the error after which no further attempt is worthwhile.
    static let hopeless = 9

    static func error(_ number: Int) -> Sent {
        Sent(number == hopeless ? "an error that is not worthwhile" : "error \(number)")
    }

    func outcome<Value>(_ conversion: Conversion<Value>) -> Result<Value, any Error> {
        switch self {
        case .fulfill(let value): .success(conversion.make(value))
        case .reject(let number): .failure(conversion.error(settling: number))
        }
    }

    var description: String {
        switch self {
        case .fulfill(let value): "fulfill(\(value))"
        case .reject(let number): "reject(\(Settling.error(number)))"
        }
    }

    /// Some of the numbers below `count`, in every order.
    static func orders(_ count: Int, upTo length: Int) -> [[Int]] {
        var (all, last): ([[Int]], [[Int]]) = ([[]], [[]])
        for _ in 0..<length {
            last = last.flatMap { order in
                (0..<count).filter { !order.contains($0) }.map { order + [$0] }
            }
            all += last
        }
        return all
    }

    /// All of the numbers below `count`, in every order.
    static func orders(ofAll count: Int) -> [[Int]] {
        orders(count, upTo: count).filter { $0.count == count }
    }

    /// The names of the promises of a program.
    static func name(_ promise: Int) -> String {
        promise < 4 ? ["p", "q", "r", "s"][promise] : "p\(promise)"
    }

    static func names(_ promises: [Int]) -> String {
        let names = promises.prefix(9).map(name).joined(separator: ", ")
        return promises.count > 9 ? "[\(names), …]" : "[\(names)]"
    }
}

extension Conversion {
    /// The error with this number. Error 1 is of a type that is not the program's, if there is one.
    func error(settling number: Int) -> any Error {
        guard number == 1, let foreign else { return Settling.error(number) }
        return foreign.error
    }

    func textOfError(_ error: any Error) -> String {
        guard let foreign, type(of: error) == type(of: foreign.error) else { return "\(error)" }
        return "\(Settling.error(1))"
    }
}

/// Records what the observers of one promise receive.
final class Receiver: Sendable {
    private let log = Scenario.Log<String>()

    var received: [String] { log.entries }

    /// - Parameter then: called by the first call of the observer.
    func observe<Value: Sendable>(
        _ promise: AWPromise<Value>, _ text: @escaping @Sendable (Value) -> String,
        error textOfError: @escaping @Sendable (any Error) -> String = { "\($0)" },
        then work: @escaping () -> Void = {}
    ) {
        nonisolated(unsafe) let work = work
        promise.observe(on: ImmediateDispatcher()) { outcome in
            let received =
                switch outcome {
                case .success(let value): "fulfilled \(text(value))"
                case .failure(let error): "rejected \(textOfError(error))"
                }
            self.log.append(received, "receives \(received)")
            if self.log.entries.count == 1 { work() }
        }
    }

    /// What is wrong with what the observers of some promises have received.
    static func fault(_ all: [[String]], insteadOf expected: [[String]]) -> Fault? {
        for (number, (seen, expected)) in zip(all, expected).enumerated()
        where seen != expected {
            let promise =
                all.count == 1 ? "the promise that is returned" : "promise \(number + 1)"
            let observer = "the observer of \(promise)"
            guard let received = seen.first else {
                return Fault(
                    "not settled",
                    "\(observer) has not been called; it should be \(shortened(expected[0]))")
            }
            if received == "rejected \(PromiseError.abandoned)" {
                return Fault(
                    "abandoned",
                    "\(promise) is abandoned: its resolver was freed before it had settled the "
                        + "promise")
            }
            if seen.count > 1 { return Fault("twice", "\(observer) has been called twice") }
            guard let wanted = expected.first else {
                return Fault("too early", "\(promise) is already \(shortened(received))")
            }
            return Fault(
                received.sorted() == wanted.sorted() ? "out of order" : "wrong value",
                "\(promise) is \(shortened(received)); it should be "
                    + shortened(wanted) + firstDifference(received, wanted))
        }
        return nil
    }

    /// Long lists of values with the first ones only.
    private static func shortened(_ text: String) -> String {
        let parts = text.components(separatedBy: ", ")
        guard parts.count > 2 * shown else { return text }
        return parts.prefix(shown).joined(separator: ", ") + ", … \(parts.count) in all]"
    }

    private static func firstDifference(_ received: String, _ wanted: String) -> String {
        let values = { (text: String) in
            text.components(separatedBy: ", ").map { $0.trimmingCharacters(in: ["]"]) }
        }
        let all = zip(values(received), values(wanted))
        guard let (place, pair) = all.enumerated().first(where: { $1.0 != $1.1 }), place >= shown
        else { return "" }
        return " (the first difference is value \(place + 1): \(pair.0) instead of \(pair.1))"
    }

    private static let shown = 9
}
