import SharedSuite
import StageTesting
import Testing

/// What Promises/A+ asks for, clause by clause.
@Suite("Promises/A+ on Stage 3")
struct Stage3APlusTests {
    @Test("every case is as documented", arguments: APlusClause.allCases)
    func clause(_ clause: APlusClause) {
        examine(clause, on: .threadSafe)
    }

    @Test("there are more than 103 cases")
    func count() {
        expectEnoughCases(on: .threadSafe)
    }
}
