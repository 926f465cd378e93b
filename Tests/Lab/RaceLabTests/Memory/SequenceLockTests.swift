import Models
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// The class of exercise 14 with any memory orderings. What the lab does not explore, such as stores
/// placed before older ones, makes no difference there: so no ordering passes that is too weak.
@Suite("The memory orderings of a sequence lock", .needsTheLab)
struct SequenceLockTests {
    /// The weakest orderings without fences, in the order of the source.
    private static let weakest: [MemoryOrdering] = [
        .relaxed, .relaxed, .releasing, .releasing, .releasing,
        .acquiring, .acquiring, .acquiring, .relaxed,
    ]
    private static let isOfLoad = [true, false, false, false, false, true, true, true, true]

    /// - Parameter fences: the ordering of the fence before each operation; `relaxed`: none.
    private static func lock(
        _ orderings: [MemoryOrdering], fences: [MemoryOrdering]
    ) -> LitmusProgram {
        let (sequence, x, y) = (
            LitmusOperation.Place.x, LitmusOperation.Place.y, LitmusOperation.Place.z
        )
        let operations: [LitmusOperation] = [
            .load(sequence, orderings[0]), .store(sequence, 1, orderings[1]),
            .store(x, 1, orderings[2]), .store(y, 1, orderings[3]),
            .store(sequence, 2, orderings[4]), .load(sequence, orderings[5]),
            .load(x, orderings[6]), .load(y, orderings[7]), .load(sequence, orderings[8]),
        ]
        let all = zip(fences, operations).map { [.fence($0), $1] as [LitmusOperation] }
        return LitmusProgram(Array(all[..<5].joined()), Array(all[5...].joined()))
    }

    private static let withoutFences = [MemoryOrdering](repeating: .relaxed, count: 9)

    /// Compares the lab with the model, and returns whether no reader gets a torn pair.
    @discardableResult
    private static func survives(
        _ orderings: [MemoryOrdering], fences: [MemoryOrdering] = withoutFences
    ) -> Bool {
        let program = lock(orderings, fences: fences)
        let exploration = explore(program.describe)
        let found = Set(exploration.outcomes.keys)
        #expect(exploration.coverage == .all && exploration.inconclusive == nil, "\(program)")
        #expect(found == MemoryModel(program, isInOrder: false).outcomes, "\(program)")
        let torn = ["0 0 1 0", "0 1 0 0", "2 0 1 2", "2 1 0 2"]
        return !found.contains { outcome in torn.contains { outcome.hasPrefix("0 | \($0):") } }
    }

    /// What the writer reads from its own variable is the same with any ordering.
    @Test(
        "every choice without fences survives exactly if it is nowhere weaker than the weakest",
        arguments: (0..<243).sample(2))
    func everyChoice(block: Int) {
        for choice in 0..<27 {
            var (number, orderings) = (block * 27 + choice, [MemoryOrdering.relaxed])
            var isStrongEnough = true
            for operation in 1..<9 {
                let levels: [MemoryOrdering] = Self.isOfLoad[operation] ? .ofLoads : .ofStores
                orderings.append(levels[number % 3])
                let needed = levels.firstIndex(of: Self.weakest[operation])!
                if number % 3 < needed { isStrongEnough = false }
                number /= 3
            }
            #expect(Self.survives(orderings) == isStrongEnough, "\(orderings)")
        }
    }

    @Test("random choices with fences", arguments: (0..<100).sample(2))
    func fences(block: Int) {
        var numbers = RandomNumbers(seed: UInt64(block))
        for _ in 0..<10 {
            // Half of the choices have what the numbers need, if there are no fences.
            let isLikely = numbers.isOneOf(2)
            let orderings = Self.isOfLoad.indices.map { operation in
                let levels: [MemoryOrdering] = Self.isOfLoad[operation] ? .ofLoads : .ofStores
                let isKept = isLikely && !numbers.isOneOf(3)
                return isKept ? Self.weakest[operation] : levels[numbers.below(3)]
            }
            let fences = Self.isOfLoad.map { _ in
                numbers.isOneOf(3) ? [MemoryOrdering].ofFences[numbers.below(4)] : .relaxed
            }
            Self.survives(orderings, fences: fences)
        }
    }

    @Test("a fence on each side replaces the orderings of the numbers, and none can be weaker")
    func twoFences() {
        let orderings: [MemoryOrdering] = [
            .relaxed, .relaxed, .relaxed, .relaxed, .releasing,
            .acquiring, .relaxed, .relaxed, .relaxed,
        ]
        func fences(_ writer: MemoryOrdering, _ reader: MemoryOrdering) -> [MemoryOrdering] {
            var fences = Self.withoutFences
            (fences[2], fences[8]) = (writer, reader)
            return fences
        }
        #expect(Self.survives(orderings, fences: fences(.releasing, .acquiring)))
        #expect(!Self.survives(orderings, fences: fences(.relaxed, .acquiring)))
        #expect(!Self.survives(orderings, fences: fences(.releasing, .relaxed)))
        #expect(!Self.survives(orderings, fences: fences(.acquiring, .acquiring)))
        #expect(!Self.survives(orderings, fences: fences(.releasing, .releasing)))
    }
}
