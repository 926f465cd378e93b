import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import Graders

/// Trouble that is not the fault of an answer is described in a sentence, without the answer's
/// verdict.
@Suite("Trouble", .needsTheLabElsewhere)
struct TroubleTests {
    @Test("a file or folder that cannot be written is named, in words")
    func unwritable() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("let wrong: Int = true", to: "class/anna/Exercise05.swift")
        // A file cannot contain a folder or a file, whoever the user is.
        try temporary.write("", to: "file")
        let folder = temporary.url.path
        let grading = ["grade", "--submissions", "\(folder)/class", "--output"]
        for words in [
            grading + ["\(folder)/file/grades.csv"],
            grading + ["\(folder)/grades.csv", "--reports", "\(folder)/file/reports"],
        ] {
            let result = try Commands.promiseLab(words)
            #expect(result.status != 0)
            #expect(result.errors.contains("\(folder)/file/"), "\(result.errors)")
            let errors = result.errors.replacing("\n", with: " ")
            #expect(errors.contains("cannot be written"), "\(errors)")
            #expect(!result.errors.contains("Domain"), "\(result.errors)")
        }
    }

    @Test("an answer may use the names of the grader's types, and those of its files")
    func names() throws {
        let answer = try AnswerFile.named("05/NSLock.swift")
        let types = "protocol PromiseAnswer {}\nprotocol PromiseUnderTest {}\nclass Handle {}\n"
        let folder = try TemporaryFolder()
        let file = try folder.write(answer.source + types, to: "Promise.swift")
        let grade = Grader.here.grade(answer.exercise, file)
        #expect(grade.rejection == "passed", "\(grade.explanation)")
    }

    /// Optimized code has no frame pointers, and this function of the library leaves no trace of its
    /// caller but the return address.
    @Test("a semaphore is seen, also in optimized code that waits for it with a time limit")
    func semaphore() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            """
            import Dispatch

            private final class State: @unchecked Sendable {
                private let gate = DispatchSemaphore(value: 1)
                private var isOver = false
                private var count = 0
                private var observers: [Int: @Sendable () -> Void] = [:]

                private func locked<T>(_ body: () -> T) -> T {
                    _ = gate.wait(timeout: .distantFuture)
                    defer { gate.signal() }
                    return body()
                }
                var isCancelled: Bool { locked { isOver } }
                func add(_ observer: @escaping @Sendable () -> Void) -> Int? {
                    let number: Int? = locked {
                        if isOver { return nil }
                        count += 1
                        observers[count] = observer
                        return count
                    }
                    if number == nil { observer() }
                    return number
                }
                func remove(_ number: Int) {
                    let removed = locked { observers.removeValue(forKey: number) }
                    withExtendedLifetime(removed) {}
                }
                func cancel() {
                    let all: [Int: @Sendable () -> Void] = locked {
                        isOver = true
                        defer { observers = [:] }
                        return observers
                    }
                    for (_, observer) in all { observer() }
                }
            }
            public final class CancelSource: Sendable {
                public let token = CancelToken()
                public init() {}
                public func cancel() { token.state.cancel() }
            }
            public final class CancelToken: Sendable {
                fileprivate let state = State()
                public var isCancelled: Bool { state.isCancelled }
                public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
                    Registration(state, state.add(observer))
                }
            }
            public final class Registration: Sendable {
                private let state: State
                private let number: Int?
                fileprivate init(_ state: State, _ number: Int?) {
                    self.state = state
                    self.number = number
                }
                public func withdraw() { if let number { state.remove(number) } }
            }
            """, to: "Answer.swift")
        let grade = Grader.here.grade(.toldToStop, file)
        #expect(grade.rejection == "passed", "\(grade.explanation)")
    }

    @Test("a compiler that cannot write its cache is not the fault of an answer")
    func cache() throws {
        try AnswerFile.named("05/NSLock.swift").withFile { file in
            let result = try Commands.promiseLab(
                ["grade", "5", "--file", file.path],
                environment: [
                    "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NO_COLOR": "1",
                ])
            #expect(result.output.contains("not graded"), "\(result.output)")
            #expect(
                result.output.contains("the compiler failed, and not because of the answer"),
                "\(result.output)")
        }
    }

    @Test(
        "what has the wrong type in a report is named as in the answer",
        arguments: [(1, "losesAHandler"), (12, "schedule"), (13, "schedule")])
    func wrongType(number: Int, name: String) throws {
        let exercise = Exercise.all[number - 1]
        let stub = exercise.stub()
        let wrong = stub.replacing(try Regex("\(name) = \".*\""), with: "\(name) = 5")
        #expect(wrong != stub)
        let folder = try TemporaryFolder()
        let grade = Grader.here.grade(exercise, try folder.write(wrong, to: "Wrong.swift"))
        #expect(grade.rejection == "does not compile")
        #expect(grade.explanation.contains("\(name): String = "), "\(grade.explanation)")
        #expect(grade.explanation.contains("cannot convert value of type 'Int'"))
        #expect(!grade.explanation.contains("AnswerForGrading"))
    }

    @Test("what is shown about an answer that keys by identity is the same each time")
    func sameBytes() throws {
        let answer = try AnswerFile.named("11/KeyedByIdentity.swift")
        let grades = try (0..<3).map { _ in try answer.grade() }
        #expect(Set(grades.map { "\($0)" }).count == 1)
    }
}
