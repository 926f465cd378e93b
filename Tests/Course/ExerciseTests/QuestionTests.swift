import RaceLab
import Testing

@testable import Graders

@Suite("Questions")
struct QuestionTests {
    private static let requirements = Exercise.all.flatMap(\.requirements)

    private func failure(_ reason: String, marked: Bool = false) -> Failure {
        var failure = Failure(reason: reason, detail: "")
        failure.table = Report(lines: [
            [Report.Span(" 1  look")],
            marked ? [Report.Span("  ← every continuation fails from here", .remark)] : [],
        ])
        return failure
    }

    @Test("no question is about the marked step when no step is marked")
    func unmarked() {
        let asking = Self.requirements.filter { $0.question.contains("the marked step") }
        #expect(!asking.isEmpty)
        for requirement in asking {
            for reason in ["lost", "twice", "wrong value", "result differs", "kept alive"] {
                let question = requirement.question(for: failure(reason))
                #expect(question?.contains("the marked step") != true, "\(requirement.id)")
                let marked = requirement.question(for: failure(reason, marked: true))
                #expect(marked == requirement.question, "\(requirement.id)")
            }
        }
    }

    @Test(
        "a question about the order or a count is not asked about something else",
        arguments: [
            ("E08.1", "out of order", "lost", "Follow the handler"),
            ("E13.12", "wrong count", "wrong error", "Which error"),
        ])
    func another(id: String, reason: String, other: String, words: String) throws {
        let requirement = try #require(Self.requirements.first { $0.id == id })
        #expect(requirement.question(for: failure(reason)) == requirement.question)
        #expect(requirement.question(for: failure(other))?.hasPrefix(words) == true)
    }

    @Test("a long table is shown without its middle")
    func longTable() throws {
        let exploration = explore { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("main") { for number in 0..<200 { log.append(number) } }
            scenario.check { throw Fault("lost", "all of them") }
        }
        let trace = try #require(
            try exploration.counterexample(showing: exploration.findings.first))
        #expect(trace.report(width: 100).lines.count > 200)
        let short = trace.shortReport
        #expect(short.lines.count < 130 && short.text.contains("lines are left out here"))
    }

    @Test("there is no question about a process that the system has ended")
    func ended() {
        for requirement in Self.requirements {
            #expect(requirement.question(for: failure("killed")) == nil)
        }
    }
}
