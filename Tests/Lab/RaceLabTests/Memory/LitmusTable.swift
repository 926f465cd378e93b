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
        asks.hasPrefix(":") || asks.contains(":")
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

    private static let storeBuffering = [
        Litmus(
            "SB, relaxed",
            [.store(.x, 1, .relaxed), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .load(.x, .relaxed)], asks: "0 | 0", .allowed),
        Litmus(
            "SB, release and acquire",
            [.store(.x, 1, .releasing), .load(.y, .acquiring)],
            [.store(.y, 1, .releasing), .load(.x, .acquiring)], asks: "0 | 0", .allowed),
        Litmus(
            "SB, sequentially consistent",
            [.store(.x, 1, .sequentiallyConsistent), .load(.y, .sequentiallyConsistent)],
            [.store(.y, 1, .sequentiallyConsistent), .load(.x, .sequentiallyConsistent)],
            asks: "0 | 0", .forbidden),
        Litmus(
            "SB, one load acquires only",
            [.store(.x, 1, .sequentiallyConsistent), .load(.y, .sequentiallyConsistent)],
            [.store(.y, 1, .sequentiallyConsistent), .load(.x, .acquiring)],
            asks: "0 | 0", .allowed),
        Litmus(
            "SB, two fences",
            [.store(.x, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.x, .relaxed)],
            asks: "0 | 0", .forbidden),
        Litmus(
            "SB, one fence",
            [.store(.x, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .load(.x, .relaxed)], asks: "0 | 0", .allowed),
        Litmus(
            "SB, fences that acquire and release",
            [.store(.x, 1, .relaxed), .fence(.acquiringAndReleasing), .load(.y, .relaxed)],
            [.store(.y, 1, .relaxed), .fence(.acquiringAndReleasing), .load(.x, .relaxed)],
            asks: "0 | 0", .allowed),
        Litmus(
            "SB, a fence and sequentially consistent accesses",
            [.store(.x, 1, .relaxed), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.store(.y, 1, .sequentiallyConsistent), .load(.x, .sequentiallyConsistent)],
            asks: "0 | 0", .forbidden),
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

    private static let messagePassing = [
        Litmus(
            "MP, relaxed",
            [.store(.x, 1, .relaxed), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .load(.x, .relaxed)], asks: " | 1 0", .allowed),
        Litmus(
            "MP, release and acquire",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .acquiring), .load(.x, .relaxed)], asks: " | 1 0", .forbidden),
        Litmus(
            "MP, release only",
            [.store(.x, 1, .relaxed), .store(.y, 1, .releasing)],
            [.load(.y, .relaxed), .load(.x, .relaxed)], asks: " | 1 0", .allowed),
        Litmus(
            "MP, acquire only",
            [.store(.x, 1, .relaxed), .store(.y, 1, .relaxed)],
            [.load(.y, .acquiring), .load(.x, .relaxed)], asks: " | 1 0", .allowed),
        Litmus(
            "MP, fences",
            [.store(.x, 1, .relaxed), .fence(.releasing), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .fence(.acquiring), .load(.x, .relaxed)],
            asks: " | 1 0", .forbidden),
        Litmus(
            "MP, a release fence without an acquire",
            [.store(.x, 1, .relaxed), .fence(.releasing), .store(.y, 1, .relaxed)],
            [.load(.y, .relaxed), .load(.x, .relaxed)], asks: " | 1 0", .allowed),
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

    private static let threeThreads = [
        Litmus(
            "IRIW, release and acquire",
            [.store(.x, 1, .releasing)], [.store(.y, 1, .releasing)],
            [.load(.x, .acquiring), .load(.y, .acquiring)],
            [.load(.y, .acquiring), .load(.x, .acquiring)], asks: " |  | 1 0 | 1 0", .allowed),
        Litmus(
            "IRIW, sequentially consistent",
            [.store(.x, 1, .sequentiallyConsistent)], [.store(.y, 1, .sequentiallyConsistent)],
            [.load(.x, .sequentiallyConsistent), .load(.y, .sequentiallyConsistent)],
            [.load(.y, .sequentiallyConsistent), .load(.x, .sequentiallyConsistent)],
            asks: " |  | 1 0 | 1 0", .forbidden),
        Litmus(
            "IRIW, fences between the loads",
            [.store(.x, 1, .relaxed)], [.store(.y, 1, .relaxed)],
            [.load(.x, .relaxed), .fence(.sequentiallyConsistent), .load(.y, .relaxed)],
            [.load(.y, .relaxed), .fence(.sequentiallyConsistent), .load(.x, .relaxed)],
            asks: " |  | 1 0 | 1 0", .forbidden),
        Litmus(
            "IRIW, the first loads acquire only",
            [.store(.x, 1, .sequentiallyConsistent)], [.store(.y, 1, .sequentiallyConsistent)],
            [.load(.x, .acquiring), .load(.y, .sequentiallyConsistent)],
            [.load(.y, .acquiring), .load(.x, .sequentiallyConsistent)],
            asks: " |  | 1 0 | 1 0", .allowed),
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
        Litmus(
            "two locks of Peterson, the entry: release and acquire",
            [.store(.x, 1, .releasing), .store(.z, 2, .releasing), .load(.y, .acquiring)],
            [.store(.y, 1, .releasing), .store(.z, 1, .releasing), .load(.x, .acquiring)],
            asks: "0 | 0", .allowed),
    ]
}
