import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// The independent model of memory agrees with the literature, so that the lab can be compared
/// with it.
@Suite("The memory model of the tests")
struct MemoryModelTests {
    @Test("answers as the literature does", arguments: Litmus.all)
    func literature(litmus: Litmus) {
        let inOrder = MemoryModel(litmus.program, isInOrder: true)
        let whole = MemoryModel(litmus.program, isInOrder: false)
        let isShown = inOrder.outcomes.contains(where: litmus.isAsked)
        let isAllowed = whole.outcomes.contains(where: litmus.isAsked)
        let answer: Litmus.Answer = isShown ? .allowed : isAllowed ? .outOfOrder : .forbidden
        #expect(answer == litmus.answer, "\(whole.outcomes.sorted())")
        #expect(inOrder.outcomes.isSubset(of: whole.outcomes))
        #expect(whole.hasRace == litmus.isRace)
    }

    @Test("finds each forbidden outcome if it ignores the axioms", arguments: Litmus.all)
    func axioms(litmus: Litmus) {
        let free = MemoryModel(litmus.program, isInOrder: false, obeysAxioms: false)
        // In load buffering, each load would have to read from a store that comes later.
        let isFound = free.outcomes.contains(where: litmus.isAsked)
        #expect(isFound != litmus.name.hasPrefix("LB"))
    }

    @Test("knows at least forty programs, each by one name")
    func count() {
        #expect(Litmus.all.count >= 40)
        #expect(Set(Litmus.all.map(\.name)).count == Litmus.all.count)
    }
}

/// The lab finds the outcomes and the races of the model, no more and no fewer.
@Suite("The lab agrees with the memory model", .needsTheLab)
struct LitmusTests {
    @Test("on random programs that are sequentially consistent", arguments: (0..<50).sample(5))
    func sequentiallyConsistent(block: Int) {
        for number in (block * 10)..<(block * 10 + 10) {
            let program = LitmusProgram(
                seed: UInt64(number), threads: number % 4 == 0 ? 3 : 2,
                orderings: [.sequentiallyConsistent])
            let model = MemoryModel(program, isInOrder: true)
            let exploration = explore(program.describe)
            #expect(exploration.coverage == .all, "\(program)\n\(exploration.summary)")
            #expect(Set(exploration.outcomes.keys) == model.outcomes, "\(program)")
            #expect(exploration.hasRace == model.hasRace, "\(program)")
        }
    }
}

extension Exploration {
    fileprivate var hasRace: Bool {
        findings.contains { $0.kind == .dataRace || $0.kind == .overlap }
    }
}
