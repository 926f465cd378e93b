import RaceLab
import RaceLabTesting
import Testing

/// Two threads of m and n accesses have exactly C(m + n, n) interleavings.
@Suite("The number of interleavings", .needsTheLab)
struct CountingTests {
    @Test(
        "every interleaving of m and n accesses once",
        arguments: [(1, 1, 2), (1, 4, 5), (2, 2, 6), (3, 4, 35), (5, 5, 252)])
    func twoThreads(first: Int, second: Int, expected: Int) {
        let exploration = explore(options: .everyOrder) { scenario in
            let (left, right) = (Counter(), Counter())
            scenario.thread("left") { for _ in 0..<first { left.value = 1 } }
            scenario.thread("right") { for _ in 0..<second { right.value = 1 } }
        }
        #expect(exploration.survives)
        #expect(exploration.explored == expected)
        #expect(exploration.coverage == .all)
    }
}
