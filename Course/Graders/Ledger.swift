import Foundation

/// The state of the work in a workbook, kept from one command to the next. For the reader's own
/// workbook it is in `.build`, and is lost with it; for other workbooks it is in their folder.
public struct Ledger {
    public struct Entry: Codable {
        /// The last graded answer, see ``Workbook/fingerprint(_:)``, and whether it passed.
        var graded: String?
        var isPassed = false
        /// The number of hints shown so far.
        public var hints = 0
    }

    private let workbook: Workbook
    private var entries: [Int: Entry] = [:]

    public init(_ workbook: Workbook) {
        self.workbook = workbook
        guard let data = try? Data(contentsOf: file),
            let entries = try? JSONDecoder().decode([Int: Entry].self, from: data)
        else { return }
        self.entries = entries
    }

    private var file: URL {
        workbook.isOwn
            ? Workbook.package.appending(path: ".build/exercises.json")
            : workbook.folder.appending(path: ".exercises.json")
    }

    public subscript(_ exercise: Exercise) -> Entry {
        get { entries[exercise.number] ?? Entry() }
        set { entries[exercise.number] = newValue }
    }

    public func save() {
        guard let data = try? JSONEncoder().encode(entries) else { return }
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: file, options: .atomic)
    }

    public mutating func note(_ grade: Grade, of exercise: Exercise) {
        self[exercise].graded = workbook.fingerprint(exercise)
        self[exercise].isPassed = grade.isPassed
    }

    // MARK: How far the reader is

    public enum State: String {
        case untouched, inProgress = "in progress", solved
    }

    public func state(of exercise: Exercise) -> State {
        if workbook.isUntouched(exercise) { return .untouched }
        return isGraded(exercise) && self[exercise].isPassed ? .solved : .inProgress
    }

    /// Whether the current answer has been graded.
    public func isGraded(_ exercise: Exercise) -> Bool {
        self[exercise].graded == workbook.fingerprint(exercise)
    }
}

extension Workbook {
    /// Identifies an answer regardless of its comments and layout.
    public func fingerprint(_ exercise: Exercise) -> String {
        // FNV-1a by Fowler, Noll and Vo: the hash must be the same in every process.
        let hash = words(exercise).joined(separator: "\n").utf8
            .reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
        return String(hash, radix: 16)
    }

    /// The words of an answer; of a file that is too long to read, the length.
    private func words(_ exercise: Exercise) -> [String] {
        if let source = try? SourceText(of: file(exercise)) { return source.essence }
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(exercise).path)
        return attributes.map { ["\($0[.size] ?? 0) bytes"] } ?? []
    }
}
