import Foundation

/// An object in a document for other tools. A field without a value is left out.
/// `Lab/RaceLab/RaceLab.docc/JSON.md` documents the fields.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private let fields: [(String, (any Encodable)?)]

    init(dictionaryLiteral fields: (String, (any Encodable)?)...) {
        self.fields = fields
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for case (let name, let value?) in fields {
            try object.encode(value, forKey: Name(stringValue: name))
        }
    }

    /// The object as a document, with sorted keys, so that equal documents have equal bytes.
    var document: String {
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

extension Exploration.Finding {
    func json(threads: [String]) -> JSONObject {
        [
            "kind": "\(kind)", "reason": reason, "count": count, "switches": schedule.switches,
            "schedule": schedule.text(threads: threads),
        ]
    }
}
