import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Synchronization
import Testing

@testable import Graders

/// The graders accept correct answers, and reject each wrong one for its own reason.
@Suite("Graders", .needsTheLabElsewhere)
struct GraderTests {
    @Test("a correct answer is accepted", arguments: AnswerFile.right.sample(14))
    func accepted(_ answer: AnswerFile) throws {
        let grade = try answer.grade()
        #expect(grade.isPassed, "\(grade.rejection): \(grade.explanation)")
    }

    @Test("the limit on processor time is one for each interleaving, not for all of them")
    func limitOfEach() throws {
        // Of this answer, one requirement has thousands of interleavings, and takes many seconds.
        let answer = try AnswerFile.named("13/PaymentsAsTasks.swift")
        var limits = Limits()
        limits.seconds = 1
        let grader = Grader(command: Grader.here.command, limits: limits)
        let grade = try answer.withFile { grader.grade(answer.exercise, $0) }
        #expect(grade.isPassed, "\(grade.rejection): \(grade.explanation)")
    }

    @Test("a wrong answer is rejected for its reason", arguments: AnswerFile.wrong.sample(20))
    func rejected(_ answer: AnswerFile) throws {
        let reason = try #require(answer.rejection, "its first line says // Rejected: …")
        let grade = try answer.grade()
        #expect(grade.rejection == reason, "\(grade.explanation)")
    }

    @Test(
        "a thread that waits for an unrelated one when graded also waits in the replay",
        arguments: ["08/OneGlobalLock.swift", "11/OneGlobalLock.swift"])
    func replayOfWaiting(path: String) throws {
        let answer = try AnswerFile.named(path)
        let grade = try answer.grade()
        let failure = try #require(grade.failure, "\(grade.rejection): \(grade.explanation)")
        let schedule = try #require(failure.schedule)
        let requirement = try #require(grade.unmet.flatMap(answer.exercise.requirement))
        let replayed = try answer.withFile {
            try Grader.here.replay(answer.exercise, $0, requirement, schedule)
        }
        #expect(replayed.verdict.map(\.text).contains("✗ \(failure.detail)"))
    }

    @Test("a stub is recognized as untouched, and would fail", arguments: Exercise.all)
    func stub(_ exercise: Exercise) throws {
        let grade = try grade(exercise.stub(), exercise)
        #expect(grade.failure != nil, "\(grade.rejection): \(grade.explanation)")
    }

    @Test(
        "there are enough answers, and each requirement rejects one that meets all earlier ones",
        arguments: Exercise.all)
    func enough(_ exercise: Exercise) {
        let right = AnswerFile.right.count { $0.exercise.number == exercise.number }
        let wrong = AnswerFile.wrong.filter { $0.exercise.number == exercise.number }
        #expect(right >= (5...11 ~= exercise.number || exercise.number == 13 ? 3 : 1))
        #expect(wrong.count >= 6)
        for requirement in exercise.requirements {
            let isNeeded = wrong.contains { $0.rejection?.hasPrefix("\(requirement.id) ") == true }
            #expect(isNeeded, "\(requirement.id)")
        }
    }

    /// The grade of the answer with a lock, with a text in it replaced.
    private func grade(replacing text: String, by other: String) throws -> Grade {
        let answer = try AnswerFile.named("05/NSLock.swift")
        return try grade(answer.replacing(text, by: other), answer.exercise)
    }

    private func grade(_ source: String, _ exercise: Exercise) throws -> Grade {
        let folder = TemporaryFolder()
        let file = try folder.write(source, to: "with a space/Lösung.swift")
        return Grader.here.grade(exercise, file)
    }

    @Test(
        "a missing member is named, with the line that needs it; so is a type",
        arguments: [
            (
                "func error(", "func failure(",
                "the grader needs: self.error(function) -- value of type 'AWPromise<Int>' has no "
                    + "member 'error'"
            ),
            ("public final class AWPromise", "class AWPromise", missingType),
            ("public final class AWPromise", "final class AWPromise", missingType),
            ("public final class AWPromise", "public class AWPromise", missingType),
        ])
    func missing(text: String, other: String, explanation: String) throws {
        let grade = try grade(replacing: text, by: other)
        #expect(grade.rejection == "does not compile")
        #expect(grade.explanation.hasPrefix(explanation), "\(grade.explanation)")
    }

    private static let missingType = "the file must declare: public final class AWPromise"

    @Test("so is the first one that an empty file does not declare", arguments: [2, 5])
    func empty(number: Int) throws {
        let source = "public enum Report { public static let schedule = \"A\" }"
        let grade = try grade(source, Exercise.all[number - 1])
        #expect(grade.explanation.hasPrefix("the file must declare: public final class "))
    }

    @Test("an encoding other than UTF-8 is named")
    func encoding() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "latin.swift")
        try Data("// L\u{F6}sung".utf16.map { UInt8($0) }).write(to: file)
        let grade = Grader.here.grade(Exercise.all[4], file)
        #expect(grade.rejection == "refused")
        #expect(grade.explanation == "its encoding is not UTF-8")
    }

    @Test(
        "what is the system's is refused, whatever else has its name",
        arguments: [
            ("let gate = (exit: {}, open: {}); gate.open(); Foundation.exit(0)", "exit"),
            (
                "let paths: Dictionary<Int, Int> = [1: 2], file = open(\"file\", 0); _ = (paths, file)",
                "open"
            ),
            ("do { let system = 1; _ = system }\n        _ = system(\"true\")", "system"),
            ("do { typealias Process = Int }\n        _ = Process()", "Process"),
            ("typealias Other = Process\n        _ = Other()", "Process"),
            (
                "#if false\n        typealias Process = Int\n        #endif\n        _ = Process()",
                "Process"
            ),
            ("let function: (Int32) -> Never = exit; if done { function(0) }", "exit"),
            ("_ = open(\"file\", 0)", "open"),
            ("`exit`(0)", "exit"),
            ("_ = Task {}", "Task"),
            ("DispatchQueue.main.async {}", "async"),
            ("let start = DispatchQueue.main.async(execute:); start(DispatchWorkItem {})", "async"),
            ("_ = try? String(contentsOfFile: \"a\", encoding: .utf8)", "contentsOfFile"),
            ("_ = environ", "environ"),
            ("_ = Thread.current.isMainThread", ".isMainThread"),
            ("_ = #fileID", "#fileID"),
        ])
    func names(line: String, name: String) throws {
        let grade = try grade(inserting: line.replacing("done", with: "outcome != nil"))
        #expect(grade.rejection == "refused", "\(grade.explanation)")
        #expect(
            grade.explanation.wholeMatch(of: try Regex("line [0-9]+ uses '\(name)': .*")) != nil,
            "\(grade.explanation)")
    }

    /// The grade of the answer with a lock, with more at the beginning of a function.
    private func grade(inserting line: String) throws -> Grade {
        let head = "    private func observe(_ handler: @escaping Handler) {\n"
        return try grade(replacing: head, by: "\(head)        \(line)\n")
    }

    @Test(
        "an operator of Stage 3 is refused",
        arguments: [
            ("func f(_ p: AWPromise<Int>) { _ = AWPromise.race([p]) }", "race"),
            ("func race() {}; func f(_ p: AWPromise<Int>) { _ = AWPromise.race([p]) }", "race"),
            ("extension AWPromise { static func f(_ p: AWPromise) { _ = race([p]) } }", "race"),
            ("typealias P = AWPromise; extension P { func f() { _ = P.race([self]) } }", "race"),
            ("func f(_ p: AWPromise<Int>) { _ = p.timeout(after: .zero) }", "timeout"),
            ("func f() { _ = CancellationSource().token }", "CancellationSource"),
            ("actor Lonely {}; func f() { _ = Lonely() }", "actor"),
            ("import Dispatch; func f() { DispatchQueue.main.async {} }", "async"),
        ])
    func operators(source: String, name: String) throws {
        let answer = try AnswerFile.named("09/ObservingTheOutcome.swift")
        let grade = try grade("\(answer.source)\n\(source)\n", answer.exercise)
        #expect(grade.rejection == "refused", "\(grade.explanation)")
        #expect(grade.explanation.contains(" uses '\(name)': "), "\(grade.explanation)")
    }

    @Test("an answer with a lock that the lab does not control is not graded")
    func notControlled() throws {
        let queue = "DispatchQueue(label: \"a\", target: DispatchQueue(label: \"b\"))"
        let grade = try grade(inserting: "\(queue).sync {}")
        let why = try #require(grade.obstacle, "\(grade.rejection)")
        #expect(why.contains(":") && why.contains("gives a queue another one as its target"))
        #expect(!why.contains("WhatTheLabSees"))
    }

    @Test("an answer that starts more tasks than the lab has room for is not graded")
    func tooManyTasks() throws {
        let answer = try AnswerFile.named("13/PaymentsAsTasks.swift")
        let source = try answer.replacing(
            "        let payment =",
            by: "        for _ in 0..<3 { await Task {}.value }\n        let payment =")
        let grade = try grade(source, answer.exercise)
        let why = try #require(grade.obstacle, "\(grade.rejection)")
        #expect(why.contains("one thread too many"), "\(why)")
    }

    @Test(
        "an answer that would pass with values where the lab does not look is not graded",
        arguments: [
            ("UnsafeMutablePointer<Int>.allocate(capacity: 1)", false),
            ("UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)", true),
            ("NSMutableDictionary()", false), ("Progress()", false),
        ])
    func unseen(memory: String, isGraded: Bool) throws {
        let head = "    private func observe(_ handler: @escaping Handler) {\n"
        let grade = try grade(replacing: head, by: "    private let memory = \(memory)\n\(head)")
        #expect(grade.isPassed == isGraded, "\(grade.rejection)")
        let name = memory.prefix { $0.isLetter }
        #expect(grade.obstacle?.contains("uses '\(name)'") != false)
    }

    @Test("a program that fails only the first time is no success")
    func failsOnce() throws {
        let hasFailed = Mutex(false)
        let describe = { (_: Int, scenario: Scenario) in
            let log = Scenario.Log<Int>()
            for name in ["first", "second"] { scenario.thread(name) { log.append(1, "a note") } }
            scenario.check {
                let fails = hasFailed.withLock { hasFailed in
                    defer { hasFailed = true }
                    return !hasFailed
                }
                if fails { throw Fault("lost", "only once") }
            }
        }
        let failure = try #require(whyItFails(Programs(count: 2, describe: describe)))
        #expect(failure.reason == "not deterministic" && failure.program == 0)
    }

    @Test("of a program that fails, and passes by itself, that is said")
    func failsAfterOthers() throws {
        let runs = TakingTurns(0)
        let programs = Programs(count: 2) { number in
            Scenario.Log<Int>().append(number, "a note")
            runs.access { $0 += 1 }
            return runs.access { $0 } == 2 ? Fault("lost", "only once") : nil
        }
        let failure = try #require(whyItFails(programs))
        #expect(failure.reason == "lost" && failure.program == 1)
        #expect(failure.detail.contains("by itself, it passes"))
    }

    private func whyItFails(_ programs: Programs) -> Failure? {
        nonisolated(unsafe) let body = Requirement.Body.programs(programs)
        let requirement = Requirement(id: "E05.4", name: "", story: "", question: "") { _ in body }
        if case .fails(let failure) = requirement.run(on: NSObject()) { return failure }
        return nil
    }

    @Test("the sheet and the report of a crash can be used: an empty schedule, and the message")
    func reportOfACrash() {
        let failure = Failure(reason: "crash", detail: "it crashes", schedule: "")
        let grade = Grade(
            Exercise.all[12], .failed(failure), unmet: "E13.2",
            printed: "Answer.swift:9: Fatal error: no seat")
        #expect(grade.cell == "E13.2 crash: ''")
        let report = grade.markdown(Exercise.all[12])
        #expect(report.contains("--replay E13.2 --schedule ''`"))
        #expect(report.contains("    Answer.swift:9: Fatal error: no seat\n"))
    }

    @Test("a wait without a loop is not asked about a loop")
    func questionOfAWait() throws {
        let result = Grade.Result(.tookTooLong, Limits(), "")
        let failure = try #require(Grade(Exercise.all[4], result).failure)
        let requirement = try #require(Exercise.all[4].requirements.first)
        #expect(requirement.question(for: failure)?.contains("loop") == false)
    }

    @Test(
        "the question fits the failure",
        arguments: [
            ("12/NotMended.swift", "the class is unchanged"),
            ("12/AnotherGapInstead.swift", "which of your lines calls the other one"),
            ("04/TheFunctionTwice.swift", "each of the two calls"),
            ("05/LateOnesHelp.swift", "before it has called them"),
            ("05/ReadingWithoutTheLock.swift", "nothing orders one access before the other"),
            ("11/WaitsForTheObservers.swift", "What does the loop wait for"),
            ("06/LateOnesUnderTheLock.swift", "which of your lines releases it"),
            ("07/NoLockForItself.swift", "in the middle of changing the same memory"),
            ("07/OneOrderForEachKind.swift", "where is it stored which one was registered first"),
        ])
    func question(path: String, words: String) throws {
        let answer = try AnswerFile.named(path)
        let grade = try answer.grade()
        let failure = try #require(grade.failure, "\(grade.rejection)")
        let requirement = try #require(grade.unmet.flatMap(answer.exercise.requirement))
        let question = try #require(requirement.question(for: failure))
        #expect(question.contains(words), "\(grade.rejection): \(question)")
    }

    @Test("if tasks cannot be explored, their exercise is not graded, but others are")
    func withoutTasks() {
        for exercise in Exercise.all {
            let why = exercise.obstacle(lab: nil, tasks: "an edge is missing")
            #expect((why != nil) == (exercise.number == 13))
            #expect(why?.contains("an edge is missing") != false)
            #expect(exercise.obstacle(lab: nil, tasks: nil) == nil)
            #expect(exercise.obstacle(lab: "no lab", tasks: nil) == "no lab")
        }
    }

    // MARK: Exercise 14

    /// The remarks on a right answer to exercise 14, with some of its text replaced.
    private func remarks(
        on name: String, replacing text: String = "import", by other: String = "import"
    ) throws -> [String] {
        let answer = try AnswerFile.named("14/\(name).swift")
        let grade = try grade(answer.replacing(text, by: other), answer.exercise)
        #expect(grade.isPassed, "\(grade.rejection): \(grade.explanation)")
        return grade.met.flatMap(\.remarks)
    }

    @Test(
        "the weakest orderings are accepted without a remark", arguments: ["EachNumber", "Fences"])
    func weakest(name: String) throws {
        #expect(try remarks(on: name).isEmpty)
    }

    @Test("where orderings are stronger than necessary, what suffices is named, and does suffice")
    func stronger() throws {
        let remarks = try remarks(on: "Strongest")
        let sufficient = [
            "relaxed", "relaxed", "releasing", "releasing", "releasing",
            "acquiring", "acquiring", "acquiring", "relaxed",
        ]
        let lines = [13, 14, 15, 16, 17, 22, 24, 25, 26]
        #expect(
            remarks
                == zip(lines, sufficient).map {
                    "Line \($0) is stronger than necessary: `\($1)` suffices there."
                } + ["Each of these holds while the others stay as they are."])
        // The same in the source: what the grader tries in the compiled answer is what it says.
        let one = try self.remarks(
            on: "Strongest", replacing: "x.load(ordering: .sequentiallyConsistent)",
            by: "x.load(ordering: .acquiring)")
        #expect(one == remarks.filter { !$0.hasPrefix("Line 24 ") })
    }

    @Test("so are fences")
    func strongerFences() throws {
        let fence = "atomicMemoryFence(ordering: .releasing)"
        let strong = try remarks(
            on: "Fences", replacing: fence,
            by: "atomicMemoryFence(ordering: .sequentiallyConsistent)")
        #expect(strong == ["Line 15 is stronger than necessary: `releasing` suffices there."])
        let twice = try remarks(
            on: "EachNumber", replacing: "x.store(", by: "\(fence)\n        x.store(")
        #expect(twice.contains("Line 15 could be left out: nothing needs this fence."), "\(twice)")
    }

    @Test("a path for a shell is quoted as one word")
    func quoting() {
        #expect("Answers/05/NSLock.swift".quotedForShell == "Answers/05/NSLock.swift")
        #expect("mit Leerzeichen".quotedForShell == "'mit Leerzeichen'")
        #expect("d'Arc".quotedForShell == "'d'\\''Arc'")
    }

    @Test("no hint contains a line of an answer", arguments: Exercise.all)
    func hints(_ exercise: Exercise) {
        #expect(!exercise.hints.isEmpty)
        let lines = AnswerFile.right.filter { $0.exercise.number == exercise.number }
            .flatMap { $0.source.split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.count > 12 && !$0.hasPrefix("//") }
        for hint in exercise.hints {
            #expect(!lines.contains { hint.contains($0) }, "\(hint)")
        }
    }
}

extension Exercise: CustomTestStringConvertible {
    public var testDescription: String { "\(number) \(title)" }
}
