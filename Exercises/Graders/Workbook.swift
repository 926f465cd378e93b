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

    static let graders = package.appending(path: "Exercises/Graders")

    public func file(_ exercise: Exercise) -> URL {
        folder.appending(path: "\(exercise.name).swift")
    }

    /// Whether nothing but comments and layout differs from the stub, or there is no file.
    public func isUntouched(_ exercise: Exercise) -> Bool {
        guard let source = try? String(contentsOf: file(exercise), encoding: .utf8) else {
            return true
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

    func isUntouched(_ source: String) -> Bool {
        guard let stub = try? String(contentsOf: stub, encoding: .utf8) else { return false }
        return SourceText(source).essence == SourceText(stub).essence
    }

    /// The task: the comment at the head of the stub.
    public var task: String {
        let stub = (try? String(contentsOf: stub, encoding: .utf8)) ?? ""
        return stub.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("//") }
            .map { $0.dropFirst($0.hasPrefix("// ") ? 3 : 2) }
            .joined(separator: "\n")
    }
}
