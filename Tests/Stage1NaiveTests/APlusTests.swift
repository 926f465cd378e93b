import SharedSuite
import StageTesting
import Testing

/// What Promises/A+ asks for, clause by clause.
@Suite("Promises/A+ on Stage 1")
struct Stage1APlusTests {
    @Test("every case is as documented", arguments: APlusClause.allCases)
    func clause(_ clause: APlusClause) {
        examine(clause, on: .naive)
    }

    @Test("there are more than 103 cases")
    func count() {
        expectEnoughCases(on: .naive)
    }
}
