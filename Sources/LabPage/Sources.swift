import Foundation
import Synchronization

/// The source files that a page shows.
enum Sources {
    private static let known = Mutex<[String: [String]]>([:])

    /// The lines of a file; none if it cannot be read.
    static func lines(of path: String) -> [String] {
        if let lines = known.withLock({ $0[path] }) { return lines }
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        known.withLock { $0[path] = lines }
        return lines
    }

    static func line(_ number: Int, of path: String) -> String? {
        let lines = lines(of: path)
        return lines.indices.contains(number - 1) ? lines[number - 1] : nil
    }
}
