import SharedSuite
import Testing

// One function for each subject, because `swift test --filter Stage1Naive` looks for names.

/// The rows of the matrix and the clauses of Promises/A+, on every subject.
@Suite("Every row", .serialized)
struct SubjectTests {
    @Test("Stage 1 · naive", arguments: Row.all(on: .naive))
    func Stage1Naive(_ row: Row) async throws { try await row.test() }

    @Test("Stage 2 · handlers", arguments: Row.all(on: .handlers))
    func Stage2Handlers(_ row: Row) async throws { try await row.test() }

    @Test("Stage 3 · thread-safe", arguments: Row.all(on: .threadSafe))
    func Stage3ThreadSafe(_ row: Row) async throws { try await row.test() }

    @Test("Step A · one lock", arguments: Row.all(on: .oneLock))
    func StepAOneLock(_ row: Row) async throws { try await row.test() }

    @Test("Step B · call outside", arguments: Row.all(on: .callOutside))
    func StepBCallOutside(_ row: Row) async throws { try await row.test() }

    @Test("Step C · a third phase", arguments: Row.all(on: .thirdPhase))
    func StepCThirdPhase(_ row: Row) async throws { try await row.test() }

    @Test("Step D · a queue of callbacks", arguments: Row.all(on: .callbackQueue))
    func StepDCallbackQueue(_ row: Row) async throws { try await row.test() }

    @Test("Step E · dispatchers", arguments: Row.all(on: .dispatchers))
    func StepEDispatchers(_ row: Row) async throws { try await row.test() }

    @Test("Design · Bolts", arguments: Row.all(on: .bolts))
    func BoltsStyle(_ row: Row) async throws { try await row.test() }

    @Test("Design · PromiseKit", arguments: Row.all(on: .promiseKit))
    func PromiseKitStyle(_ row: Row) async throws { try await row.test() }

    @Test("Design · Google Promises", arguments: Row.all(on: .google))
    func GooglePromisesStyle(_ row: Row) async throws { try await row.test() }

    @Test("Design · actor", arguments: Row.all(on: .actor))
    func ActorStyle(_ row: Row) async throws { try await row.test() }

    @Test("Design · repaired actor", arguments: Row.all(on: .repairedActor))
    func RepairedActor(_ row: Row) async throws { try await row.test() }
}
