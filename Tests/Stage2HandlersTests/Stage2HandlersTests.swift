import Foundation
import SharedSuite
import StageTesting
import Testing

/// The rows of the matrix for Stage 2, one test each.
@Suite("Stage 2 · handlers", .serialized)
struct Stage2HandlersTests {
    @Test("H01 · settled before `then` is called") func h01() throws {
        try examine("H01", on: .handlers)
    }

    @Test("H02 · two `then`s on one promise") func h02() throws {
        try examine("H02", on: .handlers)
    }

    @Test("H03 · `then`, and `error` beside it") func h03() throws {
        try examine("H03", on: .handlers)
    }

    @Test("H04 · resolved twice") func h04() throws {
        try examine("H04", on: .handlers)
    }

    @Test("H05 · resolved, then rejected") func h05() throws {
        try examine("H05", on: .handlers)
    }

    @Test("H06 · a throwing function rejects") func h06() throws {
        try examine("H06", on: .handlers)
    }

    @Test("H07 · `then` returns a promise") func h07() throws {
        try examine("H07", on: .handlers)
    }

    @Test("H08 · registering inside a handler") func h08() throws {
        try examine("H08", on: .handlers)
    }

    @Test("H09 · handlers are called in order") func h09() throws {
        try examine("H09", on: .handlers)
    }

    @Test("H10 · handler before `then` returns") func h10() throws {
        try examine("H10", on: .handlers)
    }

    @Test("H11 · a promise that waits for itself") func h11() throws {
        try examine("H11", on: .handlers)
    }

    @Test("H12 · a chain of a million links") func h12() async throws {
        try await examineChain(on: .handlers)
    }

    @Test("H13 · handlers freed after settling") func h13() throws {
        try examine("H13", on: .handlers)
    }

    @Test("H14 · a pending promise is dropped") func h14() throws {
        try examine("H14", on: .handlers)
    }

    @Test("H15 · nobody left who could settle it") func h15() throws {
        try examine("H15", on: .handlers)
    }

    @Test("H16 · a link that nobody keeps") func h16() throws {
        try examine("H16", on: .handlers)
    }

    @Test("H17 · `error` late, and far down") func h17() throws {
        try examine("H17", on: .handlers)
    }

    @Test("R13 · a wait for one's own queue") func r13() throws {
        try examine("R13", on: .handlers)
    }

    @Test("R01 · then ∥ resolve", .needsTheLab) func r01() throws {
        try examine("R01", on: .handlers)
    }

    @Test("R02 · resolve ∥ resolve", .needsTheLab) func r02() throws {
        try examine("R02", on: .handlers)
    }

    @Test("R03 · resolve ∥ reject", .needsTheLab) func r03() throws {
        try examine("R03", on: .handlers)
    }

    @Test("R04 · then ∥ then", .needsTheLab) func r04() throws {
        try examine("R04", on: .handlers)
    }

    @Test("R05 · then ∥ then ∥ resolve", .needsTheLab) func r05() throws {
        try examine("R05", on: .handlers)
    }

    @Test("R06 · order across a settle", .needsTheLab) func r06() throws {
        try examine("R06", on: .handlers)
    }

    @Test("R07 · then, error ∥ reject", .needsTheLab) func r07() throws {
        try examine("R07", on: .handlers)
    }

    @Test("R08 · look ∥ resolve", .needsTheLab) func r08() throws {
        try examine("R08", on: .handlers)
    }

    @Test("R09 · a handler that waits", .needsTheLab) func r09() throws {
        try examine("R09", on: .handlers)
    }

    @Test("R10 · two promises, crosswise", .needsTheLab) func r10() throws {
        try examine("R10", on: .handlers)
    }

    @Test("R11 · drop ∥ resolve", .needsTheLab) func r11() throws {
        try examine("R11", on: .handlers)
    }

    @Test("R12 · adopt ∥ settle the inner one", .needsTheLab) func r12() throws {
        try examine("R12", on: .handlers)
    }

    @Test("R14 · all: settled by two threads", .needsTheLab) func r14() throws {
        try examine("R14", on: .handlers)
    }

    @Test("R15 · all: fulfill ∥ reject", .needsTheLab) func r15() throws {
        try examine("R15", on: .handlers)
    }

    @Test("R16 · race, any, timeout, cancel", .needsTheLab) func r16() throws {
        try examine("R16", on: .handlers)
    }

    @Test("R17 · an aggregate settled inside", .needsTheLab) func r17() throws {
        try examine("R17", on: .handlers)
    }

    @Test("R18 · data races in R01 to R05", .needsTheLab) func r18() throws {
        try examine("R18", on: .handlers)
    }

    @Test("R19 · cancel ∥ observe the token", .needsTheLab) func r19() throws {
        try examine("R19", on: .handlers)
    }

    @Test("C01 · sharing it, in Swift 6 mode") func c01() throws {
        try examine("C01", on: .handlers)
    }

    @Test("every hazard of the catalogue has its row") func complete() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(hazardsMissing(from: source) == [])
    }
}
