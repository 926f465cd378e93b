/// A JSON value whose objects keep the order of their fields, so that the same value is always
/// the same bytes, and reads in the order in which a person would tell it.
enum JSONValue {
    case null
    case bool(Bool)
    case int(Int)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    static func string(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    static func int(_ number: Int?) -> JSONValue { number.map { .int($0) } ?? .null }
    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// The value as text, ending with a newline. What fits on a line stands on one.
    var text: String { JSONValue.text(self, indentation: 0) + "\n" }

    private static let width = 100

    private static func text(_ value: JSONValue, indentation: Int) -> String {
        let compact = compactText(value)
        if indentation > 0, indentation + compact.count <= width { return compact }
        let inner = indentation + 2
        let margin = String(repeating: " ", count: inner)
        let end = String(repeating: " ", count: indentation)
        switch value {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { margin + text($0, indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(end)]"
        case .object(let fields) where !fields.isEmpty:
            let lines = fields.map {
                margin + quoted($0.name) + ": " + text($0.value, indentation: inner)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(end)}"
        default:
            return compact
        }
    }

    private static func compactText(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .int(let int): String(int)
        case .string(let string): quoted(string)
        case .array(let elements):
            "[" + elements.map(compactText).joined(separator: ", ") + "]"
        case .object(let fields):
            "{"
                + fields.map { quoted($0.name) + ": " + compactText($0.value) }
                .joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
