import Models
import Testing

/// The search of the lab on toy programs. No thread runs: a program is an array of operations, its
/// interleavings are all permutations of its steps, and two of these are equivalent if they have the
/// same operations in the same order at each address, up to the order of reads.
@Suite("The search, without threads")
struct SearchTests {
    /// Programs that are explored together, and how many redundant runs they may cost in all.
    struct Family: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let programs: @Sendable () -> [Program]
        let classes: Int
        let redundant: Int
        /// The search knows only that a step has unannounced effects, not which ones. So it explores
        /// some classes twice.
        var canRepeat = false
    }

    static let families = [
        Family(
            testDescription: "every program of two threads with three operations each",
            programs: { Program.all(threads: 2, operations: 3) }, classes: 259_401, redundant: 0),
        Family(
            testDescription: "every program of three threads with two operations each",
            programs: { Program.all(threads: 3, operations: 2) }, classes: 166_527, redundant: 2_377
        ),
        Family(
            testDescription: "10,000 programs of three threads with three operations each",
            programs: { Program.random(10_000, threads: 3, operations: 3, seed: 1) },
            classes: 242_088,
            redundant: 3_038),
        Family(
            testDescription: "every program of two threads with three operations, and references",
            programs: { Program.all(threads: 2, operations: 3, Operation.counting) },
            classes: 124_732, redundant: 0),
        Family(
            testDescription:
                "5,000 programs of three threads with three operations, and references",
            programs: {
                Program.random(5_000, threads: 3, operations: 3, seed: 4, Operation.counting)
            },
            classes: 96_045, redundant: 1_522),
        Family(
            testDescription: "every program of two threads with three operations, and attempts",
            programs: { Program.all(threads: 2, operations: 3, Operation.attempting) },
            classes: 233_396, redundant: 60),
        Family(
            testDescription: "every program of three threads with two operations, and attempts",
            programs: { Program.all(threads: 3, operations: 2, Operation.attempting) },
            classes: 114_199, redundant: 2_236),
        Family(
            testDescription: "10,000 programs of three threads with three operations, and attempts",
            programs: {
                Program.random(10_000, threads: 3, operations: 3, seed: 7, Operation.attempting)
            },
            classes: 101_371, redundant: 2_664),
        Family(
            testDescription: "two critical sections of three and two operations, with references",
            programs: { Program.criticalSections(3, 2) }, classes: 54_720, redundant: 0),
        Family(
            testDescription: "5,000 programs of three threads with three operations, and effects",
            programs: {
                Program.random(5_000, threads: 3, operations: 3, seed: 9, Operation.touching)
            },
            classes: 50_567, redundant: 869, canRepeat: true),
    ]

    @Test("explores each equivalence class once, and nothing else", arguments: families)
    func classes(of family: Family) {
        let total = ToyEngine.Total(of: family.programs(), canRepeat: family.canRepeat)
        #expect(total.wrong == [])
        #expect(total.explored == family.classes)
        #expect(total.redundant <= family.redundant)
    }

    @Test("a planted fault is noticed", arguments: ToyEngine.Fault.allCases)
    func fault(_ fault: ToyEngine.Fault) {
        let programs = Program.random(
            200, threads: 3, operations: 3, seed: 2,
            fault.isAboutAttempts ? Operation.attempting : Operation.counting)
        #expect(ToyEngine.Total(of: programs).wrong == [])
        #expect(ToyEngine.Total(of: programs, fault).wrong != [])
    }
}
