import Foundation

/// A folder with one file an exercise: the reader's own, or that of a student.
public struct Workbook: Sendable {
    public let folder: URL

    public init(_ folder: URL) {
        self.folder = folder
    }

    /// The folder of the package, found beside the sources of this one.
    public static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The reader's own.
    public static let own = Workbook(package.appending(path: "Exercises/Workbook"))

    public var isOwn: Bool {
        folder.resolvingSymlinksInPath().path == Workbook.own.folder.resolvingSymlinksInPath().path
    }

    static let graders = package.appending(path: "Sources/Graders")

    /// Of an exercise: `Exercise05.swift`.
    public func file(_ exercise: Exercise) -> URL {
        folder.appending(path: "\(exercise.name).swift")
    }

    /// Whether nothing but comments and layout differs from the stub, or there is no file.
    public func isUntouched(_ exercise: Exercise) -> Bool {
        guard let source = try? SourceText(of: file(exercise)) else {
            // What is there and cannot be read is somebody's work all the same.
            return !FileManager.default.fileExists(atPath: file(exercise).path)
        }
        return exercise.isUntouched(source)
    }
}

extension Exercise {
    /// What the file in a workbook holds to begin with.
    public var stub: URL { Workbook.graders.appending(path: "Stubs/\(name).swift") }

    var adapterFiles: [URL] {
        adapters.map { Workbook.graders.appending(path: "Adapters/\($0).swift") }
    }

    /// The task: the comment at the head of the stub.
    public var task: String {
        stubText.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("//") }
            .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
            .joined(separator: "\n")
    }

    private var stubText: String { (try? String(contentsOf: stub, encoding: .utf8)) ?? "" }

    func isUntouched(_ source: SourceText) -> Bool {
        let essence = source.essence
        return stubs.contains { SourceText($0).essence == essence }
    }

    // MARK: Variants

    /// How many promises there are to choose from, each with a bug of its own; 1 for most exercises.
    public var variants: Int { number == 12 ? 5 : 1 }

    /// What the file in a workbook holds to begin with. The variants differ in their class.
    public func stub(variant: Int) -> String {
        guard variant > 1, let start = stubText.range(of: "public final class")?.lowerBound else {
            return stubText
        }
        let file = Workbook.graders.appending(path: "Variants/\(variant).swift")
        let other = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return stubText[..<start].replacing("variant = 1", with: "variant = \(variant)") + other
    }

    /// Which of the variants an answer says it is of: the number in its report. `nil` if it names none
    /// that there is, or several, and for an exercise without variants.
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

    /// The promise as it was before the answer mended it, and what ties it to the requirements, under
    /// another name; `nil` if the exercise has no variants.
    func suspect(of variant: Int?) -> String? {
        guard let variant else { return nil }
        let adapter = Workbook.graders.appending(path: "Adapters/Promise.swift")
        let ties = (try? String(contentsOf: adapter, encoding: .utf8)) ?? ""
        return (stub(variant: variant) + "\n" + ties)
            .replacing("AWPromise", with: "Suspect").replacing("BugReport", with: "AsItCame")
    }
}
