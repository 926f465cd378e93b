import Foundation
import Graders
import SharedSuite
import Testing

/// What the documents and the tasks claim about listings is true: each claim is run.
@Suite("Claims", .needsTheLabElsewhere)
struct ClaimTests {
    /// A file of the package or a stub, as an answer to an exercise, and whether it is accepted.
    struct Claim: Sendable, CustomStringConvertible {
        let file: String
        var stub: Int?
        let exercise: Int
        /// The row that the grader names, or `nil` if it accepts the file.
        var failing: String?
        var description: String { "\(file) as exercise \(exercise)" }

        static func step(_ module: String, _ exercise: Int, failing: String? = nil) -> Claim {
            Claim(
                file: "Sources/Steps/\(module)/AWPromise.swift", exercise: exercise,
                failing: failing)
        }

        static func stub(_ number: Int, _ exercise: Int, failing: String? = nil) -> Claim {
            Claim(file: "stub \(number)", stub: number, exercise: exercise, failing: failing)
        }
    }

    private static let claims: [Claim] = [
        // Chapter 5: which steps are answers to exercises 5 to 7.
        .step("StepAOneLock", 5, failing: "deadlock"),
        .step("StepBCallOutside", 5), .step("StepBCallOutside", 6),
        .step("StepCThirdPhase", 7),
        // Exercise 3: "keeps a list of handlers and calls them in the order of registration".
        .stub(3, 2),
        // Exercise 5: "settles once and calls every handler once", but "does not keep the order if
        // a handler registers another one".
        .stub(5, 2), .stub(5, 3, failing: "out of order"),
        // Exercise 6: "no handler is lost, and none is called twice".
        .stub(6, 5), .stub(6, 6, failing: "called under a lock"),
        // Exercise 7: "decides under its lock, and calls handlers after it has released it".
        .stub(7, 6), .stub(7, 7, failing: "out of order"),
        // Chapter 8: `all` may look whether every value is there, but not count before it stores.
        Claim(file: "Exercises/Answers/08/LookingEachTime.swift", exercise: 8),
        Claim(
            file: "Tests/Course/ExerciseTests/WrongAnswers/08/CountsBeforeItWrites.swift",
            exercise: 8, failing: "wrong value"),
    ]

    @Test("a listing is, or is not, an answer, as the documents claim", arguments: claims)
    func answers(claim: Claim) throws {
        let stub = claim.stub.flatMap { Exercise(number: $0)?.stub() }
        let result = try grade(stub ?? TutorialTests.text(claim.file), claim.exercise)
        if let failing = claim.failing {
            #expect(result.output.contains("not solved"), "\(result.output)")
            let failures = result.lines.drop { !$0.hasPrefix("✗") }.joined(separator: "\n")
            #expect(failures.contains(failing), "\(result.output)")
        } else {
            #expect(result.status == 0 && !result.output.contains("not solved"), "\(result.output)")
            #expect(result.output.contains(" solved"))
        }
    }

    @Test(
        "a **Try it** breaks what its answer says",
        arguments: [
            ("Sources/Stage2Handlers/AWPromise.swift", 3, "out of order"),
            ("Sources/Steps/StepCThirdPhase/AWPromise.swift", 7, "twice"),
        ])
    func tryIt(path: String, exercise: Int, failing: String) throws {
        let blocks = FencedBlock.blocks(in: try TutorialTests.text())
        let change = try #require(blocks.first { $0.words == ["diff", path] }).body
        let before = change.filter { !$0.hasPrefix("+") }.map { $0.dropFirst() }
        let after = change.filter { !$0.hasPrefix("-") }.map { $0.dropFirst() }
        let changed = try TutorialTests.text(path).replacing(
            before.joined(separator: "\n"), with: after.joined(separator: "\n"), maxReplacements: 1)
        let result = try grade(changed, exercise)
        let failures = result.lines.drop { !$0.hasPrefix("✗") }.joined(separator: "\n")
        #expect(failures.contains(failing), "\(result.output)")
    }

    private func grade(_ answer: String, _ exercise: Int) throws -> Commands.Result {
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "try-it-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: copy) }
        try answer.write(to: copy, atomically: true, encoding: .utf8)
        return try Commands.promiseLab(["grade", "\(exercise)", "--file", copy.path])
    }

    @Test("step A waits for its own lock, and in one schedule two threads wait for each other")
    func circle() throws {
        let shortest = try Commands.promiseLab(["show", "R10", "--step", "A"]).output
        #expect(shortest.contains("the lock that it took itself"), "\(shortest)")
        let circle = try Commands.promiseLab(
            ["replay", "R10", "--step", "A", "--schedule", "FS"]
        ).output.replacing("\n", with: " ")
        #expect(circle.contains("the lock that 'second' took"), "\(circle)")
        #expect(circle.contains("the lock that 'first' took"), "\(circle)")
        #expect(!circle.contains("the lock that it took itself"), "\(circle)")
    }

    /// The sentences whose claims these tests, and the blocks beside them, run. Before you change one
    /// here, make sure that a test runs what the new sentence claims.
    private static let sentences: [(document: String, words: String)] = [
        ("Tutorial.md", "in current Swift, without its overload of `then`, which chapter 3 adds"),
        ("Tutorial.zh.md", "只少了 `then` 的第二个重载，第 3 章会补上"),
        (
            "Tutorial.md",
            "The article has a second `then` for such functions, and its example needs it."
        ),
        ("Tutorial.zh.md", "原文为这种函数准备了 `then` 的第二个重载，“一个请求接一个请求”的例子就要用到。"),
        ("Sources/Stage1Naive/AWPromise.swift", "without its `then` for functions that return a"),
        ("Course/promise-lab/HTTP/OnStage2.swift", ".then { _ in get(second) }"),
        ("Tutorial.md", "Four more rows (H10, H12, H15, H19) wait until chapters 6 and 7."),
        ("Tutorial.zh.md", "另外四个隐患（H10、H12、H15、H19）留到第 6、7 章。"),
        ("Tutorial.md", "So step A fails **exercise 5**."),
        ("Tutorial.zh.md", "所以步骤 A 通不过**练习 5**。"),
        ("Tutorial.md", "(Exercise 5 also accepts calls under a recursive lock.)"),
        ("Tutorial.zh.md", "（练习 5 用递归锁、在锁里调用，也能通过；练习 6 不能。）"),
        (
            "Tutorial.md",
            "Step B is an answer to **exercises 5 and 6**, and step C to **exercise 7**."
        ),
        ("Tutorial.zh.md", "步骤 B 的做法就是**练习 5 和 6** 的答案，步骤 C 的做法就是**练习 7** 的答案。"),
        ("Tutorial.md", "Store first, then count."), ("Tutorial.zh.md", "先存，后计数。"),
        ("Tutorial.md", "store, and then look whether the array is full? That works."),
        ("Tutorial.zh.md", "存完之后看看数组满了没有呢？这样也行。"),
        (
            "Course/Graders/Stubs/Exercise03.swift",
            "keeps a list of handlers and calls them in the order of registration. But it can settle "
                + "again"
        ),
        (
            "Course/Graders/Stubs/Exercise05.swift",
            "On one thread it settles once and calls every handler once. (It does not keep the order "
                + "if a handler registers another one; exercise 7 is about that.)"
        ),
        (
            "Course/Graders/Stubs/Exercise06.swift",
            "So no handler is lost, and none is called twice."
        ),
        (
            "Course/Graders/Stubs/Exercise07.swift",
            "decides under its lock, and calls handlers after it has released it"
        ),
        (
            "Exercises/TEACHING.md",
            "`promise-lab show R10 --step A` shows the shortest failure, a thread that waits for its "
                + "own lock. This schedule shows two threads, each waiting for the other:"
        ),
        ("Exercises/TEACHING.md", "a value that is not there yet when the counter reaches zero"),
    ]

    @Test("a document claims what the tests run", arguments: sentences)
    func claimed(document: String, words: String) throws {
        let text = try TutorialTests.text(document)
            .replacing(/\n(?:\/\/\/? )?/, with: " ")
        #expect(text.contains(words), "\(document) no longer says '\(words)'")
    }

    /// The rows that a text names by their codes alone, outside of parentheses and tables. R01 has
    /// a name: the first race.
    private static func bareCodes(in text: String) -> [String] {
        let prose = FencedBlock.prose(of: text).map(\.text)
            .filter { !$0.hasPrefix("|") && !$0.hasPrefix("<!--") }.joined(separator: " ")
        return prose.replacing(/`[^`]*`|\]\([^)]*\)|\([^()]*\)|（[^（）]*）/, with: "")
            .matches(of: /\b[HRC]\d\d\b/).map { String($0.0) }.filter { $0 != "R01" }
    }

    @Test("a row is named by its words, its code in parentheses", arguments: TutorialTests.editions)
    func codes(edition: String) throws {
        #expect(Self.bareCodes(in: try TutorialTests.text(edition)) == [])
        #expect(Self.bareCodes(in: "Two `then`s (H02, R01) and R02 fail.\n| H03 |") == ["R02"])
    }

    @Test("Stage 1 lacks the article's second `then`, and Stage 2 has it")
    func flattening() throws {
        func count(_ stage: String) throws -> Int {
            let file = Commands.package.appending(path: "Sources/\(stage)/AWPromise.swift")
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.components(separatedBy: "func then<").count - 1
        }
        #expect(try count("Stage1Naive") == 1)
        #expect(try count("Stage2Handlers") == 2)
    }

    @Test("the teacher's page names failures that the grader reports for a wrong answer")
    func failures() throws {
        let folder = Commands.package.appending(path: "Tests/Course/ExerciseTests/WrongAnswers")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".edit") }
        let rejections = try files.map { file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            return String(text.prefix { $0 != "\n" }).replacing("// Rejected: ", with: "")
        }
        let text = try TutorialTests.text("Exercises/TEACHING.md")
        let named = text.matches(of: /`(E\d\d\.\d+ [a-z -]+)`/).map { String($0.1) }
        try #require(!named.isEmpty)
        for failure in named { #expect(rejections.contains(failure)) }
        let requirements = Exercise.all.flatMap(\.requirements).map(\.id)
        for match in text.matches(of: /\bE\d\d\.\d+/) {
            #expect(requirements.contains(String(match.0)))
        }
    }

    // MARK: Rows

    private static let versions =
        [Subject.handlers] + Subject.all(.step) + [Subject.threadSafe]

    /// The rows in the paragraphs that begin with a mark, such as `**Green now:**`.
    private static func rows(_ mark: String, _ text: String) -> [Set<String>] {
        text.components(separatedBy: mark).dropFirst().map { rest in
            let paragraph = rest.components(separatedBy: "\n\n")[0]
            return Set(
                paragraph.matches(of: /([HRC])(\d\d)(?:\s(?:to|到)\s[HRC](\d\d))?/).flatMap {
                    match in
                    let first = Int(match.2)!
                    let last = match.3.flatMap { Int($0) } ?? first
                    return (first...last).map { "\(match.1)\($0 < 10 ? "0" : "")\($0)" }
                })
        }
    }

    /// The rows whose verdict on a version differs from that on the version before it. The rows that
    /// only Stage 3 can express are those of the operators, and the queue that a promise waits for.
    private static func changed(to isGreen: Bool, at index: Int) -> Set<String> {
        Set(
            Catalogue.all.filter { hazard in
                let before = hazard.expectation(on: versions[index - 1])
                let now = hazard.expectation(on: versions[index])
                if case .cannotExpress = before {
                    return isGreen && hazard.id == "H18" && now == .survives
                }
                return (before == .survives) != (now == .survives) && (now == .survives) == isGreen
            }.map(\.id))
    }

    /// The steps about which a text names other rows than those that change.
    private static func wrongSteps(_ text: String, isChinese: Bool) -> [String] {
        let titles = versions.dropFirst().map { "\($0)" }
        let green = rows(isChinese ? "**变绿：**" : "**Green now:**", text)
        let red = rows(isChinese ? "**变红：**" : "**Red now:**", text)
        let reddening = versions.indices.dropFirst().filter { !changed(to: false, at: $0).isEmpty }
        guard green.count == titles.count, red.count == reddening.count else { return ["a step"] }
        return zip(versions.indices.dropFirst(), green).filter { changed(to: true, at: $0) != $1 }
            .map { titles[$0.0 - 1] }
            + zip(reddening, red).filter { changed(to: false, at: $0) != $1 }
            .map { "\(titles[$0.0 - 1]), red" }
    }

    @Test(
        "each step turns green and red what the text names",
        arguments: TutorialTests.editions)
    func steps(edition: String) throws {
        let text = try TutorialTests.text(edition)
        #expect(Self.wrongSteps(text, isChinese: edition.contains(".zh.")) == [])
    }

    @Test(
        "a wrong row is found",
        arguments: [
            ("a million links settle (H12)", "a million links settle (H11)", "Step D"),
            ("(R01 to R08, R12, R18)", "(R01 to R09, R12, R18)", "Step A"),
            ("handler runs (H10)", "handler runs (H10), and no wait blocks (H18)", "Step E"),
            ("order across a settlement (R06).", "order across a settlement (R05).", "Step B, red"),
        ])
    func findsRows(old: String, new: String, step: String) throws {
        let text = try TutorialTests.text().replacing(old, with: new)
        #expect(Self.wrongSteps(text, isChinese: false) == [step])
    }

    @Test("more than half of the rows that are red for Stage 1 and Stage 2 have a `∥`")
    func parallel() {
        let both = Catalogue.all.filter { hazard in
            [Subject.naive, .handlers].allSatisfy { !hazard.expectation(on: $0).reasons.isEmpty }
        }
        #expect(both.count { $0.name.contains("∥") } * 2 > both.count)
    }

    // MARK: Chapters

    @Test("an exercise belongs to the chapter that names it", arguments: TutorialTests.editions)
    func exercises(edition: String) throws {
        let chapters = try TutorialTests.text(edition).components(separatedBy: "\n## ").dropFirst()
        for exercise in Exercise.all {
            let homes = chapters.filter { chapter in
                let bold = chapter.matches(of: /\*\*([^*]+)\*\*/).map { String($0.1) }
                return bold.contains {
                    TutorialCheck.exercises(in: $0).contains(exercise.number)
                }
            }
            #expect(homes.map { Int($0.prefix { $0.isNumber }) } == [exercise.chapter])
        }
    }

    /// A listing that gives away the answer to an exercise: where it is from, and a line of it.
    private static let answers: [(exercise: Int, source: String, line: String)] = [
        (2, "Sources/Stage2Handlers", "handlers.append"),
        (3, "Sources/Stage2Handlers", "guard case"),
        (4, "Sources/Stage2Handlers", "returnedItself"), (5, "Sources/Steps", "withLock"),
        (6, "Sources/Steps/StepBCallOutside", "withLock"),
        (7, "Sources/Steps/StepCThirdPhase", "draining"),
    ]

    /// The exercises whose answers a text prints before it tells the reader to stop for them.
    private static func spoiled(in text: String) -> [Int] {
        let stops = FencedBlock.prose(of: text).compactMap { line, text in
            text.firstMatch(of: /^\*\*(Stop here for|要做)([^*]+)\*\*/).map { (line, "\($0.2)") }
        }
        return answers.filter { exercise, source, line in
            let stop = stops.first { TutorialCheck.exercises(in: $0.1).contains(exercise) }
            let listing = FencedBlock.blocks(in: text).first { block in
                block.words.last?.hasPrefix(source) == true
                    && block.body.contains { $0.contains(line) }
            }
            guard let stop, let listing else { return true }
            return stop.0 > listing.line
        }.map(\.exercise)
    }

    @Test("no answer is printed before its exercise", arguments: TutorialTests.editions)
    func spoilers(edition: String) throws {
        #expect(Self.spoiled(in: try TutorialTests.text(edition)) == [])
    }

    @Test(
        "an answer that comes too early is found",
        arguments: [
            ("**Stop here for exercise 5**: lock it.", "Lock it.", [5]),
            ("### A function that", "```swift Sources/Stage2Handlers\nreturnedItself\n```\n#", [4]),
        ])
    func findsSpoilers(old: String, new: String, exercises: [Int]) throws {
        let text = try TutorialTests.text()
        #expect(text.contains(old))
        #expect(Self.spoiled(in: text.replacing(old, with: new)) == exercises)
    }

    @Test("times are called judgments, not measurements", arguments: TutorialTests.editions)
    func times(edition: String) throws {
        let text = try TutorialTests.text(edition)
        let lines = text.components(separatedBy: "\n")
        let times = zip(lines, lines.dropFirst()).filter {
            $0.0.contains(/^\*(Reading: |阅读：)\d+/)
        }
        // Twelve chapters, four appendices.
        #expect(times.count == 16)
        for (time, origins) in times { #expect(!origins.contains("= measured"), "\(time)") }
        #expect(text.contains("judgments, not measurements") || text.contains("不是计时测得的"))
    }

    @Test("the hours of a way through the Tutorial are the sum of its minutes")
    func hours() throws {
        let text = try TutorialTests.text()
        let teaching = try TutorialTests.text("Exercises/TEACHING.md")
        let times = text.components(separatedBy: "\n").compactMap { line in
            line.firstMatch(of: /^\*.*Reading: \d+ minutes\. With [^:]+: (\d+)\./).flatMap {
                Int($0.1)
            }
        }
        // The last one is that of an appendix.
        try #require(times.count == 13)
        let chapters = times.dropLast()
        let rows = teaching.matches(of: /\n\| (\d+) · [^|]+\|[^|]+\| (\d+) (?=\|)/)
        let exercises = Dictionary(uniqueKeysWithValues: rows.map { (Int($0.1)!, Int($0.2)!) })
        try #require(exercises.count == Exercise.all.count)

        let spelling = NumberFormatter()
        spelling.locale = Locale(identifier: "en")
        spelling.numberStyle = .spellOut
        func hours(_ minutes: Int) throws -> String {
            let number = NSNumber(value: (Double(minutes) / 60).rounded())
            return "about \(try #require(spelling.string(from: number))) hours"
        }
        let ofChapters = chapters.reduce(0, +)
        let ofExercises = exercises.values.reduce(0, +)
        let afternoon = try hours(chapters[...5].reduce(0, +) + chapters[11] + exercises[1]!)
        let everything = try hours(ofChapters + ofExercises)
        #expect(text.contains("and exercise 1 | \(afternoon) |"))
        #expect(text.contains("| all chapters, commands and exercises | \(everything) |"))
        let readme = try TutorialTests.text("README.md")
        #expect(readme.contains("exercise 1; \(afternoon).") && readme.contains(everything))
        #expect(teaching.contains(everything))
        // "More than half of them for the exercises."
        #expect(ofExercises > ofChapters)
    }

    @Test("the list of exercises is in the order of the text")
    func order() throws {
        let lines = try Commands.promiseLab(["exercises"]).lines
        let listed = lines.compactMap { Int($0.prefix(2).trimmingCharacters(in: .whitespaces)) }
        let ordered = Exercise.all.sorted {
            ($0.chapter ?? .max, $0.number) < ($1.chapter ?? .max, $1.number)
        }
        #expect(listed == ordered.map(\.number))
    }

    @Test(
        "the number of exercises is the same wherever it is written",
        arguments: [
            ("README.md", "lists $words exercises"), ("README.zh.md", "列出$characters个练习"),
            ("Tutorial.md", "lists $words exercises"), ("Tutorial.zh.md", "列出$characters个练习"),
            ("Exercises/TEACHING.md", "$words exercises"),
            ("Tests/Course/ExerciseTests/WorkbookTests.swift", "func Exercise$digits() throws"),
        ])
    func numberOfExercises(file: String, phrase: String) throws {
        let number = NSNumber(value: Exercise.all.count)
        let spelling = NumberFormatter()
        spelling.numberStyle = .spellOut
        func spelled(in language: String) throws -> String {
            spelling.locale = Locale(identifier: language)
            return try #require(spelling.string(from: number))
        }
        let expected = phrase.replacing("$words", with: try spelled(in: "en"))
            .replacing("$characters", with: try spelled(in: "zh"))
            .replacing("$digits", with: "\(number)")
        #expect(try TutorialTests.text(file).contains(expected), "\(expected)")
    }

    private static let documents =
        ["README.md", "README.zh.md", "Exercises/TEACHING.md"] + TutorialTests.editions
        + Exercise.all.map {
            "Course/Graders/Stubs/Exercise\($0.number < 10 ? "0" : "")\($0.number).swift"
        }

    @Test("every chapter that is named exists", arguments: documents)
    func chapters(document: String) throws {
        let titles = try TutorialTests.text().components(separatedBy: "\n## ").dropFirst()
        let numbers = titles.compactMap { Int($0.prefix { $0.isNumber }) }
        let text = try TutorialTests.text(document).replacing("\n// ", with: " ")
        for chapter in TutorialCheck.chapters(in: text) {
            #expect(numbers.contains(chapter), "there is no chapter \(chapter)")
        }
    }

    @Test("a task names no chapter that comes after it", arguments: Exercise.all.map(\.number))
    func tasks(number: Int) throws {
        let exercise = try #require(Exercise.all.first { $0.number == number })
        let stub = Self.documents.filter { $0.contains("/Stubs/") }[number - 1]
        let text = try TutorialTests.text(stub).replacing("\n// ", with: " ")
        #expect(TutorialCheck.chapters(in: text).allSatisfy { $0 <= exercise.chapter ?? .max })
    }

    /// What a chapter shows, by a word that the sentences about it use.
    private static let topics: [(word: String, chapter: Int)] = [
        ("pyramid", 1), ("Stage 1 aloud", 2), ("`then` meets `resolve`", 4), ("measurements", 4),
        ("queue, or one lock", 5), ("step A", 5), ("step B", 5), ("step C", 5),
        ("where is the race in each", 8), ("took over", 10),
    ]

    @Test("a chapter that the teacher's page names is about that subject")
    func teaching() throws {
        let text = try TutorialTests.text("Exercises/TEACHING.md")
        for line in text.components(separatedBy: "\n") where line.hasPrefix("|") {
            let named = TutorialCheck.chapters(in: line)
            for (word, chapter) in Self.topics where !named.isEmpty && line.contains(word) {
                #expect(named.contains(chapter), "\(line)")
            }
        }
    }
}
