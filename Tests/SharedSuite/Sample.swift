import Foundation

/// Whether tests with many cases run all of them, because `EVERY_CASE` is set, or a sample.
package let everyCaseIsTested = ProcessInfo.processInfo.environment["EVERY_CASE"] != nil

extension RandomAccessCollection where Index == Int {
    /// At most `count` elements, spread over the collection and always the same ones; all of them with
    /// `EVERY_CASE`.
    package func sample(_ count: Int) -> [Element] {
        if everyCaseIsTested || count >= self.count { return Array(self) }
        return (0..<count).map { self[startIndex + $0 * self.count / count] }
    }
}
