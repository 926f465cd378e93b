import Foundation

/// A document for other tools, with a version. `Lab/RaceLab/RaceLab.docc/JSON.md` documents the
/// fields.
protocol JSONDocument: Encodable {}

extension JSONDocument {
    /// The document as text, with sorted keys, so that equal documents have equal bytes.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            preconditionFailure("texts, numbers and lists can always be encoded: \(error)")
        }
    }
}

/// Incremented when a field changes its meaning or is removed, not when one is added.
let versionOfJSON = 2

/// A finding, in both kinds of document.
struct FindingJSON: Encodable {
    let kind: String
    let reason: String
    let count: Int
    let switches: Int
    let schedule: String

    init(_ finding: Exploration.Finding, threads: [String]) {
        kind = "\(finding.kind)"
        reason = finding.reason
        count = finding.count
        switches = finding.schedule.switches
        schedule = finding.schedule.text(threads: threads)
    }
}
