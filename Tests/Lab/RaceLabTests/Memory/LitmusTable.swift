import Models
import Testing

/// A litmus program from the literature, with the outcome that it is known for.
struct Litmus: CustomTestStringConvertible {
    /// What RC11 says about the outcome.
    enum Answer {
        case allowed
        /// Allowed, but only if a store is placed in modification order before an earlier one.
        case outOfOrder
        case forbidden
    }

    let name: String
    let program: LitmusProgram
    /// What the threads read, or after a colon the last values of the variables, or both.
    let asks: String
    let answer: Answer
    let isRace: Bool

    init(
        _ name: String, _ threads: [LitmusOperation]..., asks: String, _ answer: Answer,
        isRace: Bool = false
    ) {
        self.name = name
        program = LitmusProgram(threads: threads)
        self.asks = asks
        self.answer = answer
        self.isRace = isRace
    }

    var testDescription: String { name }

    /// Whether an outcome is the one that the program asks for.
    func isAsked(_ outcome: String) -> Bool {
        asks.contains(":")
            ? outcome.hasSuffix(asks) : outcome.hasPrefix("\(asks):")
    }
}

// Sources: Alglave, Maranget and Tautschnig, "Herding Cats", TOPLAS 2014 (the names of the families);
// Batty, Owens, Sarkar, Sewell and Weber, "Mathematizing C++ Concurrency", POPL 2011;
// Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11", PLDI 2017;
// Vafeiadis, Balabonski, Chakraborty, Morisset and Zappa Nardelli, "Common Compiler Optimisations
// Are Invalid in the C11 Memory Model", POPL 2015.
extension Litmus {
    static let all = storeBuffering + messagePassing + coherence + threeThreads + stores + exchanges

    /// The orderings of a thread's store, of the fence after it, and of its load.
    private typealias Orderings = (
        store: MemoryOrdering, fence: MemoryOrdering, load: MemoryOrdering
    )

    private static let relaxed: Orderings = (.relaxed, .relaxed, .relaxed)
    private static let releasing: Orderings = (.releasing, .relaxed, .acquiring)
    private static let ordered: Orderings = (
        .sequentiallyConsistent, .relaxed, .sequentiallyConsistent
    )
    private static let fenced: Orderings = (.relaxed, .sequentiallyConsistent, .relaxed)

    private static func storeBuffering(
        _ name: String, _ left: Orderings, _ right: Orderings, _ answer: Answer
    ) -> Litmus {
        Litmus(
            "SB, \(name)",
            [.store(.x, 1, left.store), .fence(left.fence), .load(.y, left.load)],
            [.store(.y, 1, right.store), .fence(right.fence), .load(.x, right.load)],
            asks: "0 | 0", answer)
    }

    private static let storeBuffering = [
        storeBuffering("relaxed", relaxed, relaxed, .allowed),
        storeBuffering("release and acquire", releasing, releasing, .allowed),
        storeBuffering("sequentially consistent", ordered, ordered, .forbidden),
        storeBuffering(
            "one load acquires only", ordered, (.sequentiallyConsistent, .relaxed, .acquiring),
            .allowed),
        storeBuffering("two fences", fenced, fenced, .forbidden),
        storeBuffering("one fence", fenced, relaxed, .allowed),
        storeBuffering(
            "fences that acquire and release", (.relaxed, .acquiringAndReleasing, .relaxed),
            (.relaxed, .acquiringAndReleasing, .relaxed), .allowed),
        storeBuffering("a fence and sequentially consistent accesses", fenced, ordered, .forbidden),
        Litmus(
            "SB, exchanges instead of stores",
            [.exchange(.x, 1, .acquiringAndReleasing), .load(.y, .acquiring)],
            [.exchange(.y, 1, .acquiringAndReleasing), .load(.x, .acquiring)],
            asks: "0 0 | 0 0", .allowed),
        Litmus(
            "SB, three threads",
            [.store(.x, 1, .releasing), .load(.y, .acquiring)],
            [.store(.y, 1, .releasing), .load(.z, .acquiring)],
            [.store(.z, 1, .releasing), .load(.x, .acquiring)], asks: "0 | 0 | 0", .allowed),
        Litmus(
            "SB, each thread also reads its own store",
            [.store(.x, 1, .relaxed), .load(.x, .relaxed), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .load(.y, .relaxed), .load(.x, .relaxed)],
            asks: "1 0 | 1 0", .allowed),
    ]

    /// The orderings of the flag's store, and of a fence before it; those of its load, and of a
    /// fence after it.
    private static func messagePassing(
        _ name: String, _ store: MemoryOrdering, after before: MemoryOrdering = .relaxed,
        _ load: MemoryOrdering, before after: MemoryOrdering = .relaxed, _ answer: Answer
    ) -> Litmus {
        Litmus(
            "MP, \(name)",
            [.store(.x, 1, .relaxed), .fence(before), .store(.y, 1, store)],
            [.load(.y, load), .fence(after), .load(.x, .relaxed)], asks: " | 1 0", answer)
    }

    private static let messagePassing = [
        messagePassing("relaxed", .relaxed, .relaxed, .allowed),
        messagePassing("release and acquire", .releasing, .acquiring, .forbidden),
        messagePassing("release only", .releasing, .relaxed, .allowed),
        messagePassing("acquire only", .relaxed, .acquiring, .allowed),
        messagePassing(
            "fences", .relaxed, after: .releasing, .relaxed, before: .acquiring, .forbidden),
        messagePassing(
            "a release fence without an acquire", .relaxed, after: .releasing, .relaxed, .allowed),
        Litmus(
            "MP, a page that is not atomic",
            [.write, .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .onlyIf(1), .read], asks: " | 1", .allowed),
        Litmus(
            "MP, a page that is not atomic, and a flag that does not release",
            [.write, .store(.y, 1, .relaxed)],
            [.load(.y, .acquiring), .onlyIf(1), .read], asks: " | 1", .allowed, isRace: true),
        Litmus(
            "MP, the value that is read was stored after the one that releases",
            [.write, .store(.y, 1, .releasing), .store(.y, 2, .relaxed)],
            [.load(.y, .acquiring), .onlyIf(2), .read], asks: " | 2", .allowed, isRace: true),
        Litmus(
            "MP, through an exchange of a third thread",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.compareExchange(.y, from: 1, to: 2, .relaxed)],
            [.load(.y, .acquiring), .onlyIf(2), .load(.x, .relaxed)], asks: " | 1 | 2 0",
            .forbidden),
        Litmus(
            "MP, through a store of the same thread (a release sequence until C++17)",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing), .store(.y, 2, .relaxed)],
            [.load(.y, .acquiring), .onlyIf(2), .load(.x, .relaxed)], asks: " | 2 0", .allowed),
        Litmus(
            "MP, through a store of a third thread",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .relaxed), .onlyIf(1), .store(.y, 2, .relaxed)],
            [.load(.y, .acquiring), .onlyIf(2), .load(.x, .relaxed)], asks: " | 1 | 2 0",
            .allowed),
        Litmus(
            "MP, read by an exchange that fails with acquire",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [
                .compareExchange(.y, from: 0, to: 2, .acquiring, failing: .acquiring),
                .onlyIf(1), .load(.x, .relaxed),
            ], asks: " | 1 0", .forbidden),
        Litmus(
            "MP, read by an exchange that fails relaxed",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [
                .compareExchange(.y, from: 0, to: 2, .acquiring), .onlyIf(1),
                .load(.x, .relaxed),
            ], asks: " | 1 0", .allowed),
    ]

    private static let coherence = [
        Litmus(
            "CoRR", [.store(.x, 1, .relaxed)], [.load(.x, .relaxed), .load(.x, .relaxed)],
            asks: " | 1 0", .forbidden),
        Litmus(
            "CoRR, two readers",
            [.store(.x, 1, .relaxed)], [.store(.x, 2, .relaxed)],
            [.load(.x, .relaxed), .load(.x, .relaxed)],
            [.load(.x, .relaxed), .load(.x, .relaxed)], asks: " |  | 1 2 | 2 1", .forbidden),
        Litmus(
            "CoWR", [.store(.x, 1, .relaxed), .load(.x, .relaxed)], [.store(.x, 2, .relaxed)],
            asks: "0 | ", .forbidden),
        Litmus(
            "CoWW", [.store(.x, 1, .relaxed), .store(.x, 2, .relaxed)], asks: ": x1", .forbidden),
        Litmus(
            "CoRW", [.load(.x, .relaxed), .store(.x, 1, .relaxed)], [.store(.x, 2, .relaxed)],
            asks: "2 | : x2", .forbidden),
        Litmus(
            "LB (forbidden by RC11, allowed by C++ and Arm)",
            [.load(.x, .relaxed), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .store(.x, 1, .relaxed)], asks: "1 | 1", .forbidden),
    ]

    /// Independent reads of independent writes.
    private static func independentReads(
        _ name: String, _ store: MemoryOrdering, _ first: MemoryOrdering,
        fence: MemoryOrdering = .relaxed, _ second: MemoryOrdering, _ answer: Answer
    ) -> Litmus {
        Litmus(
            "IRIW, \(name)", [.store(.x, 1, store)], [.store(.y, 1, store)],
            [.load(.x, first), .fence(fence), .load(.y, second)],
            [.load(.y, first), .fence(fence), .load(.x, second)], asks: " |  | 1 0 | 1 0", answer)
    }

    private static let threeThreads = [
        independentReads("release and acquire", .releasing, .acquiring, .acquiring, .allowed),
        independentReads(
            "sequentially consistent", .sequentiallyConsistent, .sequentiallyConsistent,
            .sequentiallyConsistent, .forbidden),
        independentReads(
            "fences between the loads", .relaxed, .relaxed, fence: .sequentiallyConsistent,
            .relaxed, .forbidden),
        independentReads(
            "the first loads acquire only", .sequentiallyConsistent, .acquiring,
            .sequentiallyConsistent, .allowed),
        Litmus(
            "WRC, release and acquire",
            [.store(.x, 1, .releasing)],
            [.load(.x, .acquiring), .onlyIf(1), .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .onlyIf(1), .load(.x, .relaxed)], asks: " | 1 | 1 0",
            .forbidden),
        Litmus(
            "WRC, relaxed",
            [.store(.x, 1, .relaxed)],
            [.load(.x, .relaxed), .onlyIf(1), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .onlyIf(1), .load(.x, .relaxed)], asks: " | 1 | 1 0", .allowed),
        Litmus(
            "ISA2, release and acquire",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .onlyIf(1), .store(.z, 1, .releasing)],
            [.load(.z, .acquiring), .onlyIf(1), .load(.x, .relaxed)], asks: " | 1 | 1 0",
            .forbidden),
        Litmus(
            "ISA2, the last flag is relaxed",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .onlyIf(1), .store(.z, 1, .relaxed)],
            [.load(.z, .acquiring), .onlyIf(1), .load(.x, .relaxed)], asks: " | 1 | 1 0",
            .allowed),
        Litmus(
            "RWC, fences",
            [.store(.x, 1, .relaxed)],
            [.load(.x, .relaxed), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.x, .relaxed)],
            asks: " | 1 0 | 0", .forbidden),
        Litmus(
            "RWC, release and acquire",
            [.store(.x, 1, .releasing)],
            [.load(.x, .acquiring), .load(.y, .acquiring)],
            [.store(.y, 1, .releasing), .load(.x, .acquiring)], asks: " | 1 0 | 0", .allowed),
        Litmus(
            "Z6.U (the weakness of C++11 that RC11 keeps)",
            [.store(.x, 1, .sequentiallyConsistent), .store(.y, 1, .releasing)],
            [.exchange(.y, 2, .sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 3, .sequentiallyConsistent), .load(.x, .sequentiallyConsistent)],
            asks: " | 1 3 | 0", .allowed),
        Litmus(
            "W+RWC",
            [.store(.x, 1, .relaxed), .store(.z, 1, .releasing)],
            [.load(.z, .acquiring), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.x, .relaxed)],
            asks: " | 1 0 | 0", .forbidden),
    ]

    private static let stores = [
        Litmus(
            "2+2W, relaxed",
            [.store(.x, 1, .relaxed), .store(.y, 2, .relaxed)],
            [.store(.y, 1, .relaxed), .store(.x, 2, .relaxed)], asks: ": x1 y1", .outOfOrder),
        Litmus(
            "2+2W, sequentially consistent",
            [.store(.x, 1, .sequentiallyConsistent), .store(.y, 2, .sequentiallyConsistent)],
            [.store(.y, 1, .sequentiallyConsistent), .store(.x, 2, .sequentiallyConsistent)],
            asks: ": x1 y1", .forbidden),
        Litmus(
            "S, relaxed",
            [.store(.x, 2, .relaxed), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .store(.x, 1, .relaxed)], asks: " | 1: x2 y1", .outOfOrder),
        Litmus(
            "S, release and acquire",
            [.store(.x, 2, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .store(.x, 1, .relaxed)], asks: " | 1: x2 y1", .forbidden),
        Litmus(
            "R, relaxed",
            [.store(.x, 1, .relaxed), .store(.y, 1, .relaxed)],
            [.store(.y, 2, .relaxed), .load(.x, .relaxed)], asks: " | 0: x1 y2", .allowed),
        Litmus(
            "R, sequentially consistent",
            [.store(.x, 1, .sequentiallyConsistent), .store(.y, 1, .sequentiallyConsistent)],
            [.store(.y, 2, .sequentiallyConsistent), .load(.x, .sequentiallyConsistent)],
            asks: " | 0: x1 y2", .forbidden),
    ]

    private static let exchanges = [
        Litmus(
            "two exchanges never read the same value",
            [.exchange(.x, 1, .relaxed)], [.exchange(.x, 2, .relaxed)], asks: "0 | 0",
            .forbidden),
        Litmus(
            "an exchange never reads an old value",
            [.store(.x, 1, .relaxed), .exchange(.y, 1, .relaxed)],
            [.exchange(.y, 2, .relaxed), .exchange(.x, 2, .relaxed)], asks: "0 | 1 0",
            .outOfOrder),
        Litmus(
            "an exchange that fails may read an old value",
            [.store(.x, 1, .relaxed), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .compareExchange(.x, from: 2, to: 3, .relaxed)],
            asks: " | 1 0", .allowed),
        Litmus(
            "exchanges that acquire and release, instead of fences",
            [
                .store(.x, 1, .relaxed), .exchange(.z, 1, .acquiringAndReleasing),
                .load(.y, .relaxed),
            ],
            [
                .store(.y, 1, .relaxed), .exchange(.z, 2, .acquiringAndReleasing),
                .load(.x, .relaxed),
            ],
            asks: "0 0 | 1 0", .forbidden),
    ]
}
