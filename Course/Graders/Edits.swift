import Foundation

/// Replaces lines of a text. Each edit has the lines to find, which should occur once, between
/// `<<<<` and `====`, and the lines that replace them, up to `>>>>`.
enum Edits {
    /// `nil` if the lines of an edit are not found.
    static func applied(_ edits: String, to source: String) -> String? {
        var result = source
        for edit in "\n\(edits)".components(separatedBy: "\n<<<<\n").dropFirst() {
            let sides = edit.components(separatedBy: "\n>>>>")[0]
                .components(separatedBy: "\n====\n")
            guard sides.count == 2, result.contains(sides[0]) else { return nil }
            result = result.replacing(sides[0], with: sides[1])
        }
        return result
    }
}
