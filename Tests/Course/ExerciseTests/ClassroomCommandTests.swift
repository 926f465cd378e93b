import Foundation
import Graders
import RaceLabTesting
import SharedSuite
import Testing

/// The commands for exercises, on a separate workbook.
@Suite("promise-lab for exercises", .needsTheLabElsewhere)
struct ClassroomCommandTests {
    private let exercise = Exercise.all[4]
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    /// Each test has a copy of the stubs.
    init() throws {
        temporary = TemporaryFolder()
        for exercise in Exercise.all {
            try temporary.write(exercise.stub(), to: "\(exercise.name).swift")
        }
    }

    private func file(_ number: Int) throws -> URL {
        Workbook(folder).file(try #require(Exercise(number: number)))
    }

    /// Writes a stored answer into the workbook.
    private func put(_ path: String, _ number: Int) throws {
        try put(text: AnswerFile.named(path).source, number)
    }

    private func put(text: String, _ number: Int) throws {
        try text.write(to: file(number), atomically: true, encoding: .utf8)
    }

    private func text(_ number: Int) throws -> String {
        try String(contentsOf: file(number), encoding: .utf8)
    }

    private func run(_ words: String...) throws -> Commands.Result {
        try Commands.promiseLab(words + ["--workbook", folder.path])
    }

    @Test("the list shows untouched, in progress and solved, and the next command")
    func states() throws {
        let line = { try run("exercises").lines.first { $0.contains("Lock it") } ?? "" }
        #expect(try line().hasSuffix("untouched"))
        #expect(try run("exercises").output.contains("Next: swift run promise-lab exercise 2"))
        try put("05/CheckOutsideTheLock.swift", 5)
        #expect(try line().hasSuffix("in progress, not graded yet"))
        #expect(try run("exercises").output.contains("Next: swift run promise-lab grade 5"))
        #expect(try run("grade", "5").status == 1)
        #expect(try line().hasSuffix("in progress"))
        try put("05/NSLock.swift", 5)
        #expect(try line().hasSuffix("in progress, not graded yet"))
        #expect(try run("grade", "5").status == 0)
        #expect(try line().hasSuffix("solved"))
    }

    @Test("an exercise that is not attempted does not change the exit status")
    func statusOfStubs() throws {
        #expect(try run("grade").status == 0)
        let stub = try run("grade", "5")
        #expect(stub.status == 0 && stub.output.contains("not attempted"))
        try put("05/CheckOutsideTheLock.swift", 5)
        #expect(try run("grade").status == 1)
        for command in [["help"], ["help", "grade"]] {
            let help = try Commands.promiseLab(command).output.replacing(/\s+/, with: " ")
            #expect(help.contains("An unchanged stub counts as not attempted"))
        }
    }

    @Test("a stub with a new comment is untouched; with new code it is not")
    func touching() throws {
        let stub = try text(5)
        try put(text: "// mine\n" + stub, 5)
        #expect(Workbook(folder).isUntouched(exercise))
        try put(text: stub + "\nlet mine = 1\n", 5)
        #expect(!Workbook(folder).isUntouched(exercise))
    }

    @Test("a wrong answer is reported in 100 columns, and its replay marks the same step")
    func wrongAnswer() throws {
        try put("05/CheckOutsideTheLock.swift", 5)
        let graded = try run("grade", "5")
        // A command to copy is not wrapped, however long the path of the file.
        let lines = graded.lines.filter { !$0.contains(folder.path) }
        #expect(lines.allSatisfy { $0.count <= 100 })
        #expect(graded.output.contains("✗ E05.4/"))
        #expect(graded.output.contains("handlers.append(handler)"))
        #expect(graded.output.contains("Question: At the marked step"))
        let replay = try #require(
            graded.output.firstMatch(of: #/--replay (E05\.4/\d+) --schedule (\w+)/#))
        let replayed = try run(
            "grade", "5", "--replay", "\(replay.1)", "--schedule", "\(replay.2)")
        let table = { (result: Commands.Result) in
            result.lines.drop { !$0.contains(#/^ +A  /#) }.prefix { !$0.isEmpty }
        }
        #expect(table(graded).contains { $0.hasSuffix("← every continuation fails from here") })
        #expect(table(graded) == table(replayed))
    }

    @Test("the line of a requirement says how much was explored")
    func extent() throws {
        try put("13/AtomicCount.swift", 13)
        let result = try run("grade", "13")
        let line = { (id: String) in result.lines.first { $0.contains(" \(id) ") } ?? "" }
        #expect(line("E13.15").contains(/in every one of \d+ interleavings$/))
        #expect(line("E13.7").hasSuffix(" in the one interleaving"))
        #expect(result.lines.allSatisfy { $0.count <= 100 })
    }

    @Test("a page shows the failing row, with the lines of the answer and the replay command")
    func page() throws {
        try put("05/CheckOutsideTheLock.swift", 5)
        let result = try run("grade", "5", "--format", "html")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("<!DOCTYPE html>"))
        #expect(result.output.utf8.count < 100_000)
        #expect(result.output.contains(#/<title>Exercise 5 · E05\.4/\d+ two and three threads/#))
        #expect(result.output.contains("handlers.append(handler)"))
        #expect(result.output.contains("\"failing\":"))
        let command = try #require(result.output.firstMatch(of: /"command":"promise-lab ([^"]*)"/))
        let shown = try run("grade", "5").output
        #expect(shown.contains(command.1.replacing(#/ --replay.*/#, with: "")))
        #expect(command.1.contains(#/ --replay E05\.4/\d+$/#))
    }

    @Test("both parts of exercise 13 have a page, with the free seats")
    func pagesOfTheBoxOffice() throws {
        for (schedule, id) in [("", "E13.1 the report"), ("AABB", "E13.5 sell ∥ sell")] {
            let answer = try text(13)
                .replacing("schedule = \"\"", with: "schedule = \"\(schedule)\"")
                .replacing("        return true", with: "        return freeSeats >= -9")
            try put(text: answer, 13)
            let result = try run("grade", "13", "--format", "html")
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("<title>Exercise 13 · \(id)"))
            #expect(result.output.contains("\"columns\":[\"freeSeats\"]"))
            #expect(result.output.contains("freeSeats -= 1"))
        }
    }

    @Test("for an answer that crashes there is a table of the interleaving, but no page")
    func noPageOfACrash() throws {
        try put("05/CrashesWhenTwoMeet.swift", 5)
        let result = try run("grade", "5", "--format", "html")
        #expect(result.status == 1 && result.output == "")
        #expect(result.errors.contains("an interleaving ends the process"))
        #expect(result.errors.contains("two at once"))
        let counts = try #require(result.errors.firstMatch(of: #/ crash, in (\d+) of (\d+)/#))
        #expect(try #require(Int(counts.1)) < #require(Int(counts.2)))
        let schedule = try #require(
            result.errors.firstMatch(of: #/--replay (E05\S+) --schedule (\S+)/#))
        let replayed = try run(
            "grade", "5", "--replay", String(schedule.1), "--schedule", String(schedule.2))
        #expect(replayed.status == 0, "\(replayed.errors)")
        #expect(replayed.output.contains("✗ crash: "), "\(replayed.output)")
        #expect(replayed.output.contains("two at once"))
    }

    @Test("if no interleaving fails there is no page, and a message explains why")
    func noPage() throws {
        for (path, exercise, reason) in [
            ("05/NSLock.swift", 5, "solved"), ("02/RoomForTwenty.swift", 2, "not solved"),
        ] {
            try put(path, exercise)
            let result = try run("grade", "\(exercise)", "--format", "html")
            #expect(result.status == 1 && result.output == "")
            #expect(result.errors.contains("no requirement fails in an interleaving"))
            #expect(result.errors.contains(reason))
        }
        let mistake = try run("grade", "5", "--format", "markdown")
        #expect(mistake.status == 2 && mistake.errors.contains("there are text and html"))
    }

    /// Answers exercise 1 with this schedule for the lost handler.
    private func answer(schedule: String) throws {
        let stub = try text(1)
        #expect(stub.contains("\"SSR\""))
        try put(text: stub.replacing("\"SSR\"", with: "\"\(schedule)\""), 1)
    }

    /// The rows of a table.
    private func rows(_ result: Commands.Result) -> [String] {
        result.lines.filter { $0.contains(#/^ ?\d+  /#) }
    }

    @Test("a schedule that does not fit is not replayed")
    func unfit() throws {
        try answer(schedule: "SRS")
        let wrong = try run("grade", "1", "--replay", "R01", "--schedule", "SSSSS")
        #expect(wrong.status == 2 && wrong.output == "")
        #expect(wrong.errors.contains("step 3: it is the turn of 'subscriber'"))
    }

    @Test(
        "the replay has the same verdict and rows as the grader, also of an incomplete schedule",
        arguments: [
            ("SRS", "✗ in this interleaving every check holds (that two steps overlap is a"),
            ("SR", "✗ in this interleaving every check holds (that two steps overlap is a"),
            ("R5", "✗ in this interleaving every check holds: look for one in which a handler"),
            ("SR5S", "✓ it fails as required: a handler is never called"),
        ])
    func sameVerdict(schedule: String, verdict: String) throws {
        try answer(schedule: schedule)
        let verdicts = { (result: Commands.Result) in
            result.lines.filter { $0.hasPrefix("✗ in ") || $0.hasPrefix("✓ it ") }
        }
        let replayed = try run("grade", "1", "--replay", "R01", "--schedule", schedule)
        let sentences = verdicts(replayed)
        #expect(sentences.count == 1 && sentences[0].hasPrefix(verdict), "\(sentences)")
        let graded = try run("grade", "1")
        if verdict.hasPrefix("✗") {
            #expect(verdicts(graded) == sentences)
            #expect(!rows(graded).isEmpty && rows(graded) == rows(replayed))
        } else {
            #expect(graded.output.contains("✓ R01"))
        }
    }

    @Test("each call shows one more hint, until there are no more")
    func hints() throws {
        for count in 1...exercise.hints.count {
            let lines = try run("exercise", "5", "--hint").lines
            #expect(lines.count { $0.contains(" of \(exercise.hints.count): ") } == count)
        }
        #expect(try run("exercise", "5", "--hint").output.contains("There are no more hints."))
    }

    @Test("the stub of the chosen variant is restored, and the answer is kept")
    func resetting() throws {
        try put("12/Variant1LooksFirst.swift", 12)
        let answer = try text(12)
        let result = try run("exercise", "12", "--variant", "3")
        let exercise = Exercise.all[11]
        #expect(try text(12) == exercise.stub(variant: 3))
        #expect(Workbook(folder).isUntouched(exercise))
        let kept = try #require(result.output.firstMatch(of: #/kept in (.+)\n/#)).1
        let file = URL(filePath: String(kept), relativeTo: Commands.package)
        #expect(try String(contentsOf: file, encoding: .utf8) == answer)
        try FileManager.default.removeItem(at: file)
    }

    @Test("options that exclude each other change nothing, in any order")
    func exclusion() throws {
        try put("12/Variant1LooksFirst.swift", 12)
        let answer = try text(12)
        let pairs = [
            ["--hint", "--reset"], ["--reset", "--variant=2"], ["--variant", "2", "--hint"],
        ]
        for pair in pairs {
            let words = ["exercise", "12"] + pair + ["--workbook", folder.path]
            let result = try Commands.promiseLab(words)
            #expect(result.status == 2 && result.output == "")
            #expect(result.errors.contains("cannot be used together"))
            #expect(try text(12) == answer)
        }
    }

    @Test("the number of an exercise may follow the options")
    func order() throws {
        let result = try run("exercise", "--variant", "3", "12")
        let count = try #require(Exercise(number: 12)).variants
        #expect(result.status == 0 && result.output.contains("variant 3 of \(count)"))
        let answer = try #require(AnswerFile.right.first { $0.exercise.number == 1 })
        let graded = try answer.withFile {
            try Commands.promiseLab(["grade", "--file", $0.path, "1"])
        }
        #expect(graded.status == 0 && graded.output.contains("solved"))
    }

    @Test("a file is graded when it is saved")
    func watching() throws {
        let process = Process()
        process.executableURL = Grader.here.command
        process.arguments = ["watch", "--workbook", folder.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let id = process.processIdentifier
        defer { kill(id, SIGKILL) }
        // Ends the process if it prints nothing, so that the test fails instead of waiting.
        let giveUp = DispatchWorkItem { kill(id, SIGKILL) }
        defer { giveUp.cancel() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: giveUp)
        var printed = ""
        func wait(for text: String) {
            while !printed.contains(text) {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty {
                    Issue.record("it ended, and never printed '\(text)'")
                    return
                }
                printed += String(decoding: data, as: UTF8.self)
            }
        }
        wait(for: "Watching")
        try put("05/CheckOutsideTheLock.swift", 5)
        wait(for: "Question:")
        #expect(printed.contains("not solved"))
        printed = ""
        try put("05/NSLock.swift", 5)
        wait(for: "Next:")
        #expect(printed.contains("solved"))
    }

    @Test("`--start` writes the file of an exercise, and never overwrites an answer")
    func starting() throws {
        try FileManager.default.removeItem(at: file(5))
        #expect(Workbook(folder).isUntouched(exercise))
        #expect(try run("exercise", "5").output.contains("exercise 5 --start"))
        #expect(try run("exercise", "5", "--start").output.contains("is written"))
        #expect(try text(5) == exercise.stub())
        try put("05/NSLock.swift", 5)
        let answer = try text(5)
        #expect(try run("exercise", "5", "--start").output.contains("exists already"))
        #expect(try text(5) == answer)
    }
}
