import RaceLab
import SharedSuite
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, and says why, where the lab cannot work: under ThreadSanitizer, and in release
    /// builds.
    public static var needsTheLab: Self {
        .enabled(if: unavailable == nil, Comment(rawValue: unavailable ?? ""))
    }

    /// Skips a test whose program ends with its stack exhausted: ThreadSanitizer's own handler for that
    /// waits for ever.
    public static var needsAStackOverflow: Self {
        .enabled(
            if: !(unavailable?.contains("ThreadSanitizer") ?? false),
            "under ThreadSanitizer a program with no stack left does not come to its end")
    }
}

/// Runs a hazard of the catalogue on a stage, and compares what comes of it with what is
/// documented, in both directions: a stage that survives what it is documented to fail is as much
/// a failed test as the reverse, and so is one that fails for another reason.
public func examine(
    _ id: String, on stage: Stage, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let hazard = try #require(Catalogue.hazard(id), sourceLocation: sourceLocation)
    examine(hazard, on: stage, hazard.run(on: stage), sourceLocation)
}

/// The same for the chain of a million links, each part of it in a process that may be lost.
public func examineChain(
    on stage: Stage, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let hazard = try #require(Catalogue.hazard("H12"), sourceLocation: sourceLocation)
    let said = await withTaskGroup(of: (String, String).self) { group in
        for part in Trial.parts {
            group.addTask {
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardErrorContent],
                    sourceLocation: sourceLocation
                ) { [part = part as String, stage = stage as Stage] in
                    _ = Trial.runInThisProcess(part, on: .stage(stage))
                    Issue.record("there is no trial '\(part)'")
                }
                return (part, String(decoding: result?.standardErrorContent ?? [], as: UTF8.self))
            }
        }
        return await group.reduce(into: [String: String]()) { $0[$1.0] = $1.1 }
    }
    let verdict = Trial.verdict(of: Trial.parts.map { (name: $0, said: said[$0] ?? "") })
    examine(hazard, on: stage, verdict, sourceLocation)
}

private func examine(
    _ hazard: any Hazard, on stage: Stage, _ verdict: Verdict, _ sourceLocation: SourceLocation
) {
    // The report reads by the names of the tests, so they have to be those of the catalogue.
    #expect(
        Test.current?.displayName == "\(hazard.id) · \(hazard.name)", sourceLocation: sourceLocation
    )
    let expectation = hazard.expectation(on: stage)
    withKnownIssue("documented for \(stage)", sourceLocation: sourceLocation) {
        guard case .fails(let reasons, _, _, let detail) = verdict else { return }
        for reason in reasons {
            let words = reasons.count == 1 ? detail.description : reason.sentence
            Issue.record("\(reason.rawValue): \(words)", sourceLocation: sourceLocation)
        }
    } when: {
        !expectation.reasons.isEmpty
    } matching: { issue in
        expectation.reasons.contains { reason in
            issue.comments.contains { $0.rawValue.hasPrefix("\(reason.rawValue):") }
        }
    }
    if let difference = verdict.difference(from: expectation) {
        Issue.record("\(hazard.id) on \(stage): \(difference)", sourceLocation: sourceLocation)
    }
}

/// The ids that the source of a test file does not mention.
public func hazardsMissing(from source: String) -> [String] {
    Catalogue.all.map(\.id).filter { !source.contains("\"\($0) · ") }
}
