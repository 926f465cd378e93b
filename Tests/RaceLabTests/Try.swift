import Testing
import RaceLab
import Synchronization
import Stage1Naive
import Stage3ThreadSafe

final class Box { var x = 0; var y = 0 }

@Test func binomials() {
    for (m, n, expected) in [(1, 1, 2), (2, 2, 6), (3, 4, 35), (5, 5, 252)] {
        let report = explore { s in
            let a = Box(), b = Box()
            s.thread("first") { for _ in 0..<m { a.x = 1 } }
            s.thread("second") { for _ in 0..<n { b.x = 1 } }
        }
        print(report.summary)
        #expect(report.explored == expected)
    }
}
@Test func lost() throws {
    let d: (Scenario) -> Void = { s in
        let a = Box()
        s.thread("first") { let t = a.x; a.x = t + 1 }
        s.thread("second") { let t = a.x; a.x = t + 1 }
        s.state("x") { "\(a.x)" }
        s.check { try require(a.x == 2, "an increment was lost") }
    }
    let report = explore(d)
    print(report.summary, report.findings)
    print(try report.counterexample(d)!.table())
}
@Test func deadlock() throws {
    let d: (Scenario) -> Void = { s in
        let a = Mutex<Int>(0).self, b = 0
        _ = a; _ = b
    }
    _ = d
    final class M: Sendable { let a = Mutex(0); let b = Mutex(0) }
    let e: (Scenario) -> Void = { s in
        let m = M()
        s.thread("first") { m.a.withLock { x in m.b.withLock { $0 += x } } }
        s.thread("second") { m.b.withLock { x in m.a.withLock { $0 += x } } }
    }
    let report = explore(e)
    print(report.summary, report.findings)
    print(try report.counterexample(e)!.table())
}
@Test func peterson() throws {
    final class P { var wantsA = false, wantsB = false, turn = 0, inside = 0, worst = 0 }
    let e: (Scenario) -> Void = { s in
        let p = P()
        s.thread("A") {
            p.wantsA = true; p.turn = 1
            while p.wantsB && p.turn == 1 {}
            p.inside += 1; p.worst = max(p.worst, p.inside); p.inside -= 1
            p.wantsA = false
        }
        s.thread("B") {
            p.wantsB = true; p.turn = 0
            while p.wantsA && p.turn == 0 {}
            p.inside += 1; p.worst = max(p.worst, p.inside); p.inside -= 1
            p.wantsB = false
        }
        s.check { try require(p.worst == 1, "both inside") }
    }
    var o = Options(); o.judging = [.failedCheck, .deadlock]
    let c = ContinuousClock()
    let t = c.now
    let report = explore(options: o, e)
    print(report.summary, c.now - t)
    o.reduction = true
    let report2 = explore(options: o, e)
    print(report2.summary, report2.redundant)
}
@Test func stage1() throws {
    let e: (Scenario) -> Void = { s in
        var resolve: ((Int) -> Void)!
        let p = Stage1Naive.AWPromise<Int> { r, _ in resolve = r }
        let log = Log<Int>()
        let res = resolve!
        s.thread("subscriber") { p.then { log.append($0, "hears \($0)") } }
        s.thread("resolver") { res(1) }
        s.check { try require(log.entries == [1], "lost") }
        s.state("result") { "\(p.result.map { "\($0)" } ?? "nil")" }
    }
    var o = Options(); o.judging = [.failedCheck, .deadlock]
    let report = explore(options: o, e)
    print(report.summary, report.remarks)
    print(try report.counterexample(options: o, e)!.table())
    let c = ContinuousClock()
    let t = c.now
    var n = 0
    for _ in 0..<100 { n += explore(options: o, e).explored }
    print("rate", Double(n) / ((c.now - t) / .seconds(1)))
}
@Test func stage3() throws {
    let e: (Scenario) -> Void = { s in
        let (p, res) = Stage3ThreadSafe.AWPromise<Int>.pending()
        let log = Log<Int>()
        s.thread("subscriber") { p.then(on: ImmediateDispatcher()) { log.append($0, "hears \($0)") } }
        s.thread("resolver") { res.fulfill(1) }
        s.check { try require(log.entries == [1], "lost") }
        s.state("result") { "\(p.result.map { "\($0)" } ?? "nil")" }
    }
    let report = explore(e)
    print(report.summary, report.remarks)
    if let s = report.surviving { print(try replay(s, e).table()) }
}
