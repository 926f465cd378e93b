import RaceLab
import Testing
@Test func show() throws {
    for c in Classic.all {
        let r = c.report()
        print("=====", c.name, "expected", c.expected)
        print(r.text())
        if let t = try r.counterexample(c.describe) { print(t.table()); }
    }
}
