import RaceLab
import SharedSuite
import Testing

/// A row of the matrix, or a clause of Promises/A+, on one subject.
struct Row: Sendable, CustomTestStringConvertible {
    enum Check: Sendable {
        case hazard(any Hazard)
        case clause(APlusClause)
    }

    let check: Check
    let subject: Subject

    /// The whole catalogue, then the clauses if the subject is tried on them.
    static func all(on subject: Subject) -> [Row] {
        let clauses = subject.isTriedOnAPlus ? APlusClause.allCases : []
        let checks = Catalogue.all.map(Check.hazard) + clauses.map(Check.clause)
        return checks.map { Row(check: $0, subject: subject) }
    }

    /// The name of a row in the matrix, or of a clause: `R01 · then ∥ resolve`.
    var testDescription: String {
        switch check {
        case .hazard(let hazard): "\(hazard.id) · \(hazard.name)"
        case .clause(let clause): "\(clause.rawValue) · \(clause.title)"
        }
    }

    /// Why the row is skipped; `nil` if it runs.
    var reasonToSkip: String? {
        switch check {
        case .hazard(let hazard):
            if case .cannotExpress(let why) = hazard.expectation(on: subject) { return why }
            return hazard.unavailable(on: subject)
        case .clause(let clause):
            return clause.results(on: subject).isEmpty ? "\(subject) has no case for it" : nil
        }
    }
}

// MARK: - Running

extension Row {
    /// Runs the row, compares the verdict with the documented one in both directions, and prints a
    /// line; above the first row it prints the subject. A subject that survives what it is
    /// documented to fail fails the test, and so does one that fails for another reason.
    func test(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        if case .hazard(let hazard) = check, hazard.id == Catalogue.all[0].id { print(subject) }
        if let reasonToSkip {
            print("➜ \(testDescription): skipped: \(reasonToSkip)")
            #if compiler(>=6.3)
                try Test.cancel(Comment(rawValue: reasonToSkip))
            #else
                return
            #endif
        }
        let (known, differences) =
            switch check {
            case .hazard(let hazard): try await run(hazard)
            case .clause(let clause): run(clause)
            }
        let mark = differences.isEmpty ? known.isEmpty ? "✔" : "━" : "✘"
        print("\(mark) \(([testDescription] + differences + known).joined(separator: ": "))")
        if !known.isEmpty {
            withKnownIssue("documented for \(subject)", sourceLocation: sourceLocation) {
                for failure in known { Issue.record("\(failure)", sourceLocation: sourceLocation) }
            }
        }
        for difference in differences {
            Issue.record("\(self) on \(subject): \(difference)", sourceLocation: sourceLocation)
        }
    }

    private func run(
        _ hazard: any Hazard
    ) async throws -> (known: [String], differences: [String]) {
        let chain = hazard as? any LongChainHazard
        let verdict =
            if let chain { try await self.verdict(of: chain) } else { hazard.run(on: subject) }
        let expectation = hazard.expectation(on: subject)
        if let difference = verdict.difference(from: expectation) { return ([], [difference]) }
        guard case .fails(let reasons, _, _, _) = verdict else { return ([], []) }
        return (reasons.map(\.rawValue), [])
    }

    /// A hundred thousand links also exhaust the stack; a million take long, and are worth it only
    /// for Stage 3.
    private func verdict(of hazard: any LongChainHazard) async throws -> Verdict {
        let all = subject == .threadSafe
        let links = all ? LongChain.links : min(LongChain.links, 100_000)
        ChildRun.program = Commands.products.appending(path: "promise-lab")
        return try await onOwnThread { ChildRun.run(hazard.parts, on: subject, links: links) }
    }

    private func run(_ clause: APlusClause) -> (known: [String], differences: [String]) {
        let results = clause.results(on: subject)
        let differences = results.compactMap(\.difference)
        let failed = results.filter { !$0.passed && $0.difference == nil }
        let known = "fails in \(failed.count) of \(results.count) cases"
        return (failed.isEmpty ? [] : [known], differences)
    }
}
