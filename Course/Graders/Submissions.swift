import Foundation

/// A folder of workbooks, with a subfolder for each student.
public struct Submissions: Sendable {
    public let folder: URL
    /// Their names, in alphabetical order.
    public let students: [String]

    public struct Unreadable: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameter reports: a folder that may be among those of the students, and is not one of
    ///   them.
    public init(_ folder: URL, besides reports: URL? = nil) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw Unreadable(description: "there is no folder \(folder.path)") }
        self.folder = folder
        students = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { name in
                var isFolder: ObjCBool = false
                let path = folder.appending(path: name).path
                return !name.hasPrefix(".") && !isSame(folder.appending(path: name), reports)
                    && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                    && isFolder.boolValue
            }.sorted()
        guard !students.isEmpty else {
            throw Unreadable(
                description:
                    "\(folder.path) has no subfolders: it needs one for each student, with "
                    + "files such as \(Exercise.all[0].name).swift")
        }
    }

    /// The workbook in which a student has answered an exercise.
    public func workbook(of student: String, for exercise: Exercise) -> Workbook {
        let workbooks = workbooks(of: student)
        return workbooks.first { !$0.isUntouched(exercise) } ?? workbooks[0]
    }

    /// All folders in which a student may have put answers, the likeliest first: those nearest to
    /// the student's own, and of these, `Exercises/Workbook` and `Workbook`.
    private func workbooks(of student: String) -> [Workbook] {
        var found: [URL] = []
        var level = [folder.appending(path: student)]
        for _ in 0..<Submissions.depth {
            var next: [URL] = []
            for folder in level {
                let usual = ["Exercises/Workbook", "Workbook"].map { folder.appending(path: $0) }
                    .filter { FileManager.default.fileExists(atPath: $0.path) }
                for place in usual + [folder]
                where !found.contains(where: { $0.path == place.path }) {
                    found.append(place)
                }
                // The other folders of a package contain its sources, and no answers.
                if !isPackage(folder) { next += subfolders(of: folder) }
            }
            level = next
        }
        return found.map { Workbook($0) }
    }

    /// The levels of folders that are searched, from the student's own.
    private static let depth = 4

    /// Swift files of a student that are not graded: their names belong to no exercise.
    public func strangers(of student: String) -> [String] {
        let known = Set(Exercise.all.map { "\($0.name).swift" }).union(["Package.swift"])
        return workbooks(of: student).flatMap { workbook in
            let names = try? FileManager.default.contentsOfDirectory(atPath: workbook.folder.path)
            return (names ?? []).filter {
                $0.lowercased().hasSuffix(".swift") && !$0.hasPrefix(".") && !known.contains($0)
            }.map { path(of: workbook.folder.appending(path: $0), in: student) }
        }.sorted()
    }

    /// Answers of a student that are not graded, because another answer to the same exercise is.
    public func duplicates(of student: String) -> [String] {
        let workbooks = workbooks(of: student)
        return Exercise.all.flatMap { exercise in
            workbooks.filter { !$0.isUntouched(exercise) }.dropFirst()
                .map { path(of: $0.file(exercise), in: student) }
        }
    }

    private func path(of file: URL, in student: String) -> String {
        String(file.path.dropFirst(folder.appending(path: student).path.count + 1))
    }
}

private func isPackage(_ folder: URL) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
}

/// Without hidden folders and symbolic links.
private func subfolders(of folder: URL) -> [URL] {
    let contents = try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
    return (contents ?? []).filter {
        (try? $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
    }.sorted { $0.path < $1.path }
}

private func isSame(_ folder: URL, _ other: URL?) -> Bool {
    folder.resolvingSymlinksInPath().path == other?.resolvingSymlinksInPath().path
}

/// The grades so far, in a file next to the sheet. An interrupted grading continues from there, and
/// only changed answers are graded again.
public struct Journal: Sendable {
    private struct Line: Codable {
        let student: String
        let fingerprint: String
        let grade: Grade
    }

    private let file: URL
    private var lines: [String: Line] = [:]
    /// Whether an interrupted grader left its last line incomplete.
    private var endsWithinALine = false

    /// - Parameter afresh: whether to discard the existing journal.
    public init(_ file: URL, afresh: Bool = false) {
        self.file = file
        if afresh { try? FileManager.default.removeItem(at: file) }
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        endsWithinALine = !text.isEmpty && !text.hasSuffix("\n")
        for text in text.split(separator: "\n") {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else {
                continue
            }
            lines[Journal.key(line.student, line.grade.exercise)] = line
        }
    }

    private static func key(_ student: String, _ exercise: Int) -> String {
        "\(exercise) \(student)"
    }

    /// The grade of this version of the answer, if it is known.
    public func grade(_ student: String, _ exercise: Exercise, _ workbook: Workbook) -> Grade? {
        let line = lines[Journal.key(student, exercise.number)]
        return line?.fingerprint == workbook.fingerprint(exercise) ? line?.grade : nil
    }

    public mutating func note(
        _ grade: Grade, of student: String, _ exercise: Exercise, _ workbook: Workbook
    ) throws {
        // An answer that could not be graded is tried again the next time.
        if case .unavailable = grade.result { return }
        let line = Line(
            student: student, fingerprint: workbook.fingerprint(exercise), grade: grade)
        lines[Journal.key(student, exercise.number)] = line
        var data = try JSONEncoder().encode(line)
        data.append(UInt8(ascii: "\n"))
        if endsWithinALine { data.insert(UInt8(ascii: "\n"), at: 0) }
        endsWithinALine = false
        // Another grader may append to the file at the same time, so each line is written at the
        // current end.
        let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else {
            let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            throw CocoaError(
                .fileWriteNoPermission,
                userInfo: [NSFilePathErrorKey: file.path, NSUnderlyingErrorKey: cause])
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
    }
}

extension String {
    /// Quoted so that a shell reads it as one word.
    public var quotedForShell: String {
        let isPlain = allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@%".contains($0) }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

/// The grades of a class, as a sheet: a row for each student, a column for each exercise.
public struct GradeSheet: Sendable {
    /// In alphabetical order of the students.
    public private(set) var rows: [(student: String, grades: [Grade])] = []

    public init() {}

    public mutating func add(_ student: String, _ grades: [Grade]) {
        let place = rows.firstIndex { $0.student > student } ?? rows.endIndex
        rows.insert((student, grades), at: place)
    }

    /// Comma-separated values, as RFC 4180 describes them.
    public var text: String {
        let head = ["student", "passed"] + Exercise.all.map { "\($0.number) \($0.title)" }
        let lines = rows.map { row in
            [row.student, "\(row.grades.count(where: \.isPassed))"] + row.grades.map(\.cell)
        }
        return ([head] + lines).map { $0.map(GradeSheet.quoted).joined(separator: ",") + "\r\n" }
            .joined()
    }

    /// A spreadsheet reads a cell that begins with one of these characters as a formula.
    private static func quoted(_ cell: String) -> String {
        let isFormula = cell.first.map { "=+-@\t\r".contains($0) } ?? false
        let text = isFormula ? "'\(cell)" : cell
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"\(text.replacing("\"", with: "\"\""))\""
    }
}

extension Grade {
    /// One line: `passed`, or the hazard, the reason and a failing schedule.
    public var cell: String {
        switch result {
        case .notAttempted: "not attempted"
        case .doesNotCompile: "does not compile"
        case .refused(let why): "not accepted: \(why)"
        case .passed: "passed" + nameOfVariant
        case .failed(let failure):
            [
                unmet.map { "\($0) \(failure.reason)" } ?? failure.reason,
                failure.schedule?.quotedForShell,
            ]
            .compactMap { $0 }.joined(separator: ": ") + nameOfVariant
        case .unavailable(let why): "not graded: \(why)"
        }
    }

    public var nameOfVariant: String { variant.map { " (variant \($0))" } ?? "" }

    /// A section of a student's report, in Markdown. Its commands are for the student to type.
    public func markdown(_ exercise: Exercise) -> String {
        var lines = ["## \(exercise.number) · \(exercise.title)\(nameOfVariant)", ""]
        switch result {
        case .notAttempted: lines.append("Not attempted.")
        case .doesNotCompile(let errors):
            lines += ["It does not compile:", "", "```", errors, "```"]
        case .refused(let why): lines.append("Not accepted: \(why).")
        case .passed:
            lines.append("Passed: " + met.map(\.id).joined(separator: ", ") + ".")
            for remark in met.flatMap(\.remarks) { lines += ["", remark] }
        case .failed(let failure):
            let requirement = unmet.flatMap(exercise.requirement)
            lines.append(
                "Not passed: **\(requirement.map { "\($0.id) \($0.name)" } ?? "ended"): "
                    + "\(failure.reason)**. \(requirement?.story ?? "")")
            if let table = failure.table { lines += ["", "```", table.text, "```"] }
            lines += ["", "✗ \(failure.detail)"]
            if let schedule = failure.schedule, let requirement {
                lines += [
                    "",
                    "To replay it, with this answer in your workbook: `promise-lab grade "
                        + "\(exercise.number) --replay \(requirement.id) --schedule "
                        + "\(schedule.quotedForShell)`",
                ]
            }
            if let question = requirement?.question(for: failure) {
                lines += ["", "> \(question)"]
            }
            // The message of a crash, for instance, with its line.
            if !printed.isEmpty {
                lines += ["", "The first lines of its output:", ""]
                lines += printed.split(separator: "\n").map { "    \($0.prefix(200))" }
            }
        case .unavailable(let why): lines.append("Not graded: \(why)")
        }
        return lines.joined(separator: "\n") + "\n\n"
    }
}
