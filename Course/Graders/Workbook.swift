import Foundation

/// A folder with one file for each exercise: the reader's own, or a student's.
public struct Workbook: Sendable {
    public let folder: URL

    public init(_ folder: URL) {
        self.folder = folder
    }

    /// The folder of the package, found from the path of this source.
    public static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The reader's own.
    public static let own = Workbook(package.appending(path: "Exercises/Workbook"))

    public var isOwn: Bool {
        folder.resolvingSymlinksInPath().path == Workbook.own.folder.resolvingSymlinksInPath().path
    }

    static let graders = package.appending(path: "Course/Graders")

    /// The text of a file in that folder.
    fileprivate static func text(_ path: String) -> String {
        (try? String(contentsOf: graders.appending(path: path), encoding: .utf8)) ?? ""
    }

    /// The file of an exercise: `Exercise05.swift`.
    public func file(_ exercise: Exercise) -> URL {
        folder.appending(path: "\(exercise.name).swift")
    }

    /// Whether the file differs from the stub only in comments and layout, or does not exist.
    public func isUntouched(_ exercise: Exercise) -> Bool {
        guard let source = try? SourceText(of: file(exercise)) else {
            // A file that exists but cannot be read counts as an attempt.
            return !FileManager.default.fileExists(atPath: file(exercise).path)
        }
        return exercise.isUntouched(source)
    }
}

extension Exercise {
    var adapterFiles: [URL] {
        (adapters + ["Answer"]).map {
            Workbook.graders.appending(path: "Adapters/\($0)+Grading.swift")
        }
    }

    /// The task: the comment at the beginning of the stub.
    public var task: String {
        stub().split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("//") }
            .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
            .joined(separator: "\n")
    }

    func isUntouched(_ source: SourceText) -> Bool {
        let essence = source.essence
        return stubs.contains { SourceText($0).essence == essence }
    }

    // MARK: Variants

    /// The number of promises to choose from, each with its own bug; 1 for most exercises.
    public var variants: Int { number == 12 ? Exercise.variants : 1 }

    /// The first is the stub.
    private static let variants =
        1
        + ((try? FileManager.default.contentsOfDirectory(
            atPath: Workbook.graders.appending(path: "Variants").path)) ?? [])
        .count { $0.hasSuffix(".edit") }

    /// The initial contents of the file in a workbook. The variants differ in their class.
    public func stub(variant: Int = 1) -> String {
        // What is the same in several stubs.
        let first = ["Init", "Then"].reduce(Workbook.text("Stubs/\(name).swift")) {
            $0.replacing("    // \($1).part\n", with: Workbook.text("Stubs/\($1).part"))
        }
        guard variant > 1 else { return first }
        return Edits.applied(
            Workbook.text("Variants/\(variant).edit"),
            to: first.replacing("variant = 1", with: "variant = \(variant)")) ?? ""
    }

    /// The variant that an answer names in its report; `nil` if it names none, an unknown one, or
    /// several, and for an exercise without variants.
    func variant(of answer: SourceText) -> Int? {
        guard variants > 1 else { return nil }
        let words = answer.essence
        let named = words.indices.dropLast(2)
            .filter { words[$0] == "variant" && words[$0 + 1] == "=" }.map { words[$0 + 2] }
        guard named.count == 1, let variant = Int(named[0]), (1...variants).contains(variant) else {
            return nil
        }
        return variant
    }

    private var stubs: [String] { (1...variants).map(stub(variant:)) }

    /// Whether an answer reports an interleaving in which the original class fails.
    var reports: Bool { 12...13 ~= number }

    /// The original class with its adapter, under other names.
    func suspect(of variant: Int?) -> String {
        (stub(variant: variant ?? 1) + "\n" + Workbook.text("Adapters/\(adapters[0])+Grading.swift"))
            .replacing("AWPromise", with: "Suspect").replacing("BugReport", with: "AsItCame")
            .replacing("BoxOffice", with: "OriginalOffice")
            .replacing("enum Report", with: "enum AsItCame")
    }
}
