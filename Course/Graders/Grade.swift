import Foundation
import RaceLab

/// The result of grading an answer.
public struct Grade: Sendable, Equatable, Codable {
    public enum Result: Error, Sendable, Equatable, Codable {
        /// The file is the unchanged stub, or there is none.
        case notAttempted
        /// The error messages of the compiler.
        case doesNotCompile(String)
        /// The source uses something that it may not use: a sentence.
        case refused(String)
        case passed
        case failed(Failure)
        /// The answer could not be graded, and the answer is not the cause: a sentence.
        case unavailable(String)
    }

    public let exercise: Int
    /// The variant that the answer names, if the exercise has several.
    public internal(set) var variant: Int?
    public internal(set) var result: Result
    /// The requirements that are met, in order, with the number and the coverage of the explored
    /// interleavings.
    public let met: [Met]
    /// The id of the requirement that is not met, if there is one.
    public let unmet: String?
    /// The beginning of what the answer printed.
    public let printed: String

    public struct Met: Sendable, Equatable, Codable {
        public let id: String
        public let explored: Int?
        public let coverage: Exploration.Coverage
        /// The number of small programs, if the requirement runs several.
        public let programs: Int?
        /// What could be better, in sentences.
        public let remarks: [String]
    }

    init(
        _ exercise: Exercise, _ result: Result, met: [Met] = [], unmet: String? = nil,
        printed: String = ""
    ) {
        self.exercise = exercise.number
        self.result = result
        self.met = met
        self.unmet = unmet
        self.printed = printed
    }

    /// Adds the variant, and a better question if the class is unchanged.
    fileprivate func of(_ variant: Int?, of exercise: Exercise, _ file: URL) -> Grade {
        guard let variant else { return self }
        var grade = self
        grade.variant = variant
        let classes = [try? SourceText(of: file), SourceText(exercise.stub(variant: variant))].map {
            $0?.essence.drop { $0 != "class" }
        }
        if case .failed(var failure) = result, unmet != exercise.requirements[0].id,
            classes[0] == classes[1]
        {
            failure.question =
                "Your report is correct, and the class is unchanged. Which two critical "
                + "sections of it have to become one?"
            grade.result = .failed(failure)
        }
        return grade
    }

    public var isPassed: Bool { result == .passed }
}

/// The limits within which an answer must end.
public struct Limits: Sendable {
    /// Seconds of processor time for each interleaving and each requirement with one thread; the
    /// limit on elapsed time is twice that and ten seconds. The total time has no limit: see
    /// ``Requirement/maximumInterleavings``.
    public var seconds = 8
    /// Bytes of memory, in addition to those of the program itself. (Not on macOS, which has no
    /// such limit.)
    public var memory = 1 << 30
    /// Bytes that it may print.
    public var output = 8 << 20

    public init() {}
}

/// Grades answers. Each answer is compiled, and runs in a process of its own.
public struct Grader: Sendable {
    /// This program, which is started again to run an answer. See ``GraderProcess``.
    public let command: URL
    let limits: Limits
    let tableWidth: Int

    public init(
        command: URL, limits: Limits = Limits(), tableWidth: Int = TableWidth.usual
    ) {
        self.command = command
        self.limits = limits
        self.tableWidth = tableWidth
    }

    /// Grades the file in a workbook.
    public func grade(_ exercise: Exercise, in workbook: Workbook) -> Grade {
        workbook.isUntouched(exercise)
            ? Grade(exercise, .notAttempted) : grade(exercise, workbook.file(exercise))
    }

    /// Grades a file, whatever its name, and even if it is the stub.
    public func grade(_ exercise: Exercise, _ file: URL) -> Grade {
        do throws(Grade.Result) {
            return try Interruption.withFolder { folder throws(Grade.Result) in
                let (library, variant) = try library(of: exercise, file, folder)
                var grade = tried(exercise, library, folder)
                if grade.isPassed { grade = triedOptimized(grade, exercise, file, variant, folder) }
                if grade.isPassed, let source = try? SourceText(of: file),
                    let why = source.blindSpot
                {
                    grade = Grade(exercise, .unavailable(why), met: grade.met)
                }
                return grade.of(variant, of: exercise, file)
            }
        } catch {
            return Grade(exercise, error)
        }
    }

    /// One interleaving of an answer as a table, and the sentences of its verdict.
    ///
    /// - Throws: ``Refusal``
    package func replay(
        _ exercise: Exercise, _ file: URL, _ requirement: Requirement, _ schedule: String
    ) throws -> (table: Report, verdict: [Report.Span]) {
        let why = "the answer ended before the end of \(schedule)"
        let line = try lastLine(
            exercise, file, ["--requirement", requirement.id, "--schedule", schedule],
            orIfItCrashes: ["--isolated"])
        guard case .replayed(let table, let verdict) = line else { throw Refusal(why) }
        return (table, verdict)
    }

    /// Every interleaving of an answer, as a page.
    ///
    /// - Parameter command: the one that replays an interleaving, without the schedule.
    /// - Throws: ``Refusal``
    public func page(
        _ exercise: Exercise, _ file: URL, _ requirement: Requirement, command: String
    ) throws -> String {
        let why = "the answer ended its process: no page can be made of what crashes"
        let line = try lastLine(
            exercise, file, ["--requirement", requirement.id, "--page", command])
        guard case .written(let page) = line else { throw Refusal(why) }
        return page
    }

    private func lastLine(
        _ exercise: Exercise, _ file: URL, _ task: [String], orIfItCrashes more: [String] = []
    ) throws -> GraderProcess.Line? {
        var lines: [GraderProcess.Line] = []
        do throws(Grade.Result) {
            try Interruption.withFolder { folder throws(Grade.Result) in
                let (library, _) = try library(of: exercise, file, folder)
                (_, lines) = run(exercise, library, folder, task, tokens: [])
                if lines.isEmpty, !more.isEmpty {
                    (_, lines) = run(exercise, library, folder, task + more, tokens: [])
                }
            }
        } catch {
            throw Refusal("\(file.lastPathComponent) could not be run", error)
        }
        // The last line counts: see GraderProcess.
        switch lines.last {
        case .mismatch(let why), .unavailable(let why): throw Refusal(why)
        case let line: return line
        }
    }

    public struct Refusal: Error, CustomStringConvertible {
        public let description: String

        init(_ description: String, _ result: Grade.Result? = nil) {
            switch result {
            case .doesNotCompile(let why), .refused(let why), .unavailable(let why):
                self.description = "\(description): \(why)"
            default: self.description = description
            }
        }
    }

    // MARK: From a file to a library

    private func library(
        of exercise: Exercise, _ file: URL, _ folder: URL
    ) throws(Grade.Result) -> (URL, variant: Int?) {
        let source: SourceText
        do {
            source = try SourceText(of: file)
        } catch let refused as Grade.Result {
            throw refused
        } catch {
            throw .unavailable("\(file.path) cannot be read")
        }
        if let objection = Forbidden.objection(to: source, besides: exercise.forbidden) {
            throw .refused(objection)
        }
        if exercise.isAboutOrderings,
            let objection = source.objection(
                toMoreThanOrderingsOf: SourceText(exercise.stub()))
        {
            throw .refused(objection)
        }
        let variant = exercise.variant(of: source)
        if exercise.variants > 1, variant == nil {
            throw .refused(
                "the report must contain the number of the variant once, as in the stub: "
                    + "variant = 1 to \(exercise.variants)")
        }
        let workshop = Workshop(exercise: exercise, variant: variant, folder: folder)
        let library = try workshop.build(file)
        guard let names = workshop.usedNames() else {
            throw .unavailable("what it uses cannot be listed: is `nm` installed?")
        }
        if let objection = Forbidden.objection(
            toUseOf: names, in: source, module: exercise.name, besides: exercise.forbidden)
        {
            throw .refused(objection)
        }
        return (library, variant)
    }

    // MARK: From a library to a grade

    /// - Parameter optimized: the requirements for a library that is compiled with optimization.
    private func tried(
        _ exercise: Exercise, _ library: URL, _ folder: URL, optimized: [Requirement]? = nil
    ) -> Grade {
        let requirements = optimized ?? exercise.requirements
        let tokens = Tokens.made(for: requirements)
        let ids = requirements.map(\.id).joined(separator: " ")
        let task = optimized == nil ? [] : ["--optimized", ids]
        let (ending, lines) = run(exercise, library, folder, task, tokens: tokens)
        var met: [Grade.Met] = []
        var begun: String?
        for line in lines {
            switch line {
            case .begins(let id): begun = id
            case .ends(
                let id, .holds(let explored, let coverage, let programs, let remarks), let token):
                guard met.count < tokens.count, token == tokens[met.count],
                    id == requirements[met.count].id
                else { return Grade(exercise, .failed(.forged), met: met, unmet: begun) }
                met.append(
                    Grade.Met(
                        id: id, explored: explored, coverage: coverage, programs: programs,
                        remarks: remarks))
                begun = nil
            case .ends(_, .fails(let failure), _) where failure.reason == Failure.notControlled:
                return Grade(exercise, .unavailable(failure.detail), printed: printed(folder))
            case .ends(let id, .fails(let failure), _):
                return Grade(
                    exercise, .failed(failure), met: met, unmet: id.with(failure.program),
                    printed: printed(folder))
            case .unavailable(let why):
                return Grade(exercise, .unavailable(why))
            case .replayed, .written, .mismatch: break
            }
        }
        if ending == .status(0), met.count == requirements.count {
            return Grade(exercise, .passed, met: met, printed: printed(folder))
        }
        let printed = printed(folder)
        let result = Grade.Result(ending, limits, printed)
        guard case .failed(var failure) = result else {
            return Grade(exercise, result, met: met, printed: printed)
        }
        if let id = begun, exercise.requirement(id)?.hasPrograms == true {
            begun = id.with(program(folder))
        }
        if failure.reason == "crash", optimized == nil, let begun,
            let known = interleaving(ofCrashIn: begun, exercise, library, folder)
        {
            failure = known
        }
        return Grade(exercise, .failed(failure), met: met, unmet: begun, printed: printed)
    }

    /// Compiles an answer that has passed with optimization, and checks the requirements again that
    /// the optimizer may affect.
    private func triedOptimized(
        _ passed: Grade, _ exercise: Exercise, _ file: URL, _ variant: Int?, _ folder: URL
    ) -> Grade {
        let requirements = exercise.requirements.filter(\.isAlsoRunOptimized)
        guard !requirements.isEmpty else { return passed }
        let workshop = Workshop(
            exercise: exercise, variant: variant, folder: folder, isOptimized: true)
        guard let library = try? workshop.build(file) else {
            return Grade(exercise, .unavailable("it could not be compiled with optimization"))
        }
        let grade = tried(exercise, library, folder, optimized: requirements)
        guard case .failed(let failure) = grade.result else {
            return grade.isPassed ? passed : grade
        }
        // A loop that waits for an atomic may never end if the lab does not see the atomic.
        if ["not explored", "not deterministic", "no end"].contains(failure.reason) {
            return Grade(
                exercise,
                .unavailable(
                    "compiled with optimization, \(grade.unmet ?? "it") could not be explored: "
                        + failure.detail))
        }
        return Grade(
            exercise, .failed(failure.whenOptimized),
            met: passed.met.filter { $0.id != grade.unmet?.withoutProgram },
            unmet: grade.unmet, printed: grade.printed)
    }

    /// Runs the requirement again, isolated, to find the interleaving that crashes.
    private func interleaving(
        ofCrashIn id: String, _ exercise: Exercise, _ library: URL, _ folder: URL
    ) -> Failure? {
        let (_, lines) = run(
            exercise, library, folder, ["--requirement", id, "--isolated"], tokens: [])
        for line in lines {
            if case .ends(_, .fails(let failure), _) = line { return failure }
        }
        return nil
    }

    private func run(
        _ exercise: Exercise, _ library: URL, _ folder: URL, _ task: [String],
        tokens: [String]
    ) -> (Child.Ending, [GraderProcess.Line]) {
        let protocolFile = folder.appending(path: "protocol")
        try? FileManager.default.removeItem(at: protocolFile)
        let ending = Child.run(
            command,
            [
                "try-answer", "\(exercise.number)", "--library", library.path,
                "--protocol", protocolFile.path, "--seconds", "\(limits.seconds)",
                "--memory", "\(limits.memory)", "--output", "\(limits.output)",
                "--width", "\(tableWidth)",
            ] + task,
            input: Tokens.text(tokens), output: folder.appending(path: "printed"),
            atMost: .seconds(2 * limits.seconds + 10), pulse: { size(of: protocolFile) })
        let data = (try? Data(contentsOf: protocolFile)) ?? Data()
        let text = String(decoding: data, as: UTF8.self)
        let decoder = JSONDecoder()
        return (
            ending,
            text.split(separator: "\n").compactMap {
                try? decoder.decode(GraderProcess.Line.self, from: Data($0.utf8))
            }
        )
    }

    /// The number of the program that was running in the end.
    private func program(_ folder: URL) -> Int? {
        let file = GraderProcess.program(besides: folder.appending(path: "protocol"))
        guard let data = try? Data(contentsOf: file), data.count == 8 else { return nil }
        return data.withUnsafeBytes { Int($0.loadUnaligned(as: Int64.self)) }
    }

    private func size(of file: URL) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? Int) ?? 0
    }

    private func printed(_ folder: URL) -> String {
        Child.beginning(of: folder.appending(path: "printed"), lines: 20)
            // An address, as in a message of the runtime, differs from one run to the next.
            .replacing(/0x[0-9a-f]{6,}/, with: "0x…")
    }
}

extension String {
    /// The id of a requirement with the number of one of its programs.
    func with(_ program: Int?) -> String { program.map { "\(self)/\($0)" } ?? self }

    /// The id of a requirement, without the number of a program.
    package var withoutProgram: String { String(prefix { $0 != "/" }) }
}

extension Failure {
    /// For an answer that meets the requirement in a debug build only. There is no schedule,
    /// because a replay compiles the answer without optimization.
    fileprivate var whenOptimized: Failure {
        var failure = self
        failure.detail = "compiled with optimization (-O): " + detail
        failure.schedule = nil
        failure.question =
            "The optimizer releases an object after its last use, not at the end of the "
            + "function. Which reference is the last one then, and is the lock held where it "
            + "is released?"
        return failure
    }

    static let forged = Failure(
        reason: "forged",
        detail: "the process of the answer wrote a verdict that is not the grader's")
}

extension Grade.Result {
    /// For an answer whose process ended before all requirements were checked.
    init(_ ending: Child.Ending, _ limits: Limits, _ printed: String) {
        switch ending {
        case .didNotStart(let why):
            self = .unavailable("its process could not be started: \(why)")
        case .signal(SIGINT): self = .unavailable("the grading was interrupted")
        case .signal(SIGXCPU):
            self = .failed(
                "no end", "it had not ended after \(limits.seconds) seconds of processor time")
        case .tookTooLong:
            var failure = Failure(
                reason: "no end",
                detail:
                    "it made no progress for \(2 * limits.seconds + 10) seconds: it waits "
                    + "for an event that does not occur")
            failure.question =
                "What does the thread wait for, and what would have to happen for the wait to end?"
            self = .failed(failure)
        case .signal(SIGXFSZ):
            self = .failed(
                "too much output",
                "it printed more than \(limits.output >> 20) MB, and its process was killed")
        case .signal(SIGKILL):
            self = .failed(
                "killed",
                "its process was killed (SIGKILL): by itself, or by the system when memory ran out")
        case .signal(let signal):
            // What the lab prints before it ends the process.
            let noThread = printed.split(separator: "\n").last {
                $0.hasPrefix("RaceLab could not start a thread")
            }
            self =
                noThread.map { .unavailable("\($0); --megabytes allows more memory") }
                ?? .failed(
                    "crash",
                    "its process was ended by a signal: \(String(cString: strsignal(signal)))")
        case .status(0):
            self = .failed(
                "no verdict",
                "its process ended with status 0, before the grader had written its verdict")
        case .status(let status):
            self = .failed("crash", "its process ended with status \(status)")
        }
    }

    private static func failed(_ reason: String, _ detail: String) -> Grade.Result {
        .failed(Failure(reason: reason, detail: detail))
    }
}
