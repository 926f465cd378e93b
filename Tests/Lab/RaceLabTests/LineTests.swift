import Foundation
import RaceLabTesting
import Testing

@testable import RaceLab

/// The compiler gives many accesses no line. The lab infers it from the code around the access.
@Suite("Every step has its own line", .needsTheLab)
struct LineTests {
    final class Numbers {
        var one = 0
        var other = 0
        var list = [0]
        var isSet = false
    }

    /// Expects one access, or a wait, on each of the lines that follow the call.
    private static func expectOneStep(
        onEachOf count: Int, after line: Int = #line, _ body: @escaping (Numbers) -> Void
    ) throws {
        let exploration = explore { scenario in
            let numbers = Numbers()
            scenario.thread("only") { body(numbers) }
        }
        // A thread that begins with a look at the clock makes one more step.
        let steps = try exploration.replay(try #require(exploration.passingSchedule)).steps
            .filter { $0.kind != .begin }
        #expect(steps.map { $0.site?.line } == (1...count).map { line + $0 })
        #expect(steps.allSatisfy { $0.site?.file == "LineTests.swift" })
    }

    @Test("reads into constants, and modifications right after them")
    func constants() throws {
        try Self.expectOneStep(onEachOf: 9) { numbers in
            let first = numbers.one
            numbers.other += first
            let second = numbers.one
            numbers.other += 1
            let third = numbers.isSet
            numbers.isSet.toggle()
            let fourth = numbers.one
            let fifth = numbers.other
            numbers.list[0] += fourth
            keep(second, third, fifth)
        }
    }

    private static func pause() async {}

    @Test("reads into constants at the start of an async function, and after an await")
    func asynchronous() throws {
        let exploration = explore { scenario in
            let numbers = Numbers()
            scenario.task("only") {
                let first = numbers.one
                await Self.pause()
                numbers.other = first
                await Self.pause()
                let second = numbers.one

                // Uses it.
                keep(second)
            }
        }
        let trace = try exploration.replay(try #require(exploration.passingSchedule))
        let lines = trace.steps.map(\.text)
        #expect(
            lines.filter { $0.contains("numbers") } == [
                "let first = numbers.one", "numbers.other = first", "let second = numbers.one",
            ])
    }

    @Test("reads into constants by key path")
    func keyPaths() throws {
        let keyPath = [\Numbers.one, \.other][0]
        try Self.expectOneStep(onEachOf: 4) { numbers in
            let first = numbers[keyPath: keyPath]
            let second = numbers[keyPath: keyPath]
            let third = numbers.one
            numbers[keyPath: keyPath] = first + third
            keep(second)
        }
    }

    @Test("code from a macro expansion is reported by the name of the member and the macro")
    func expansion() {
        func file(_ path: String) -> String {
            Exploration.Site(path: path, line: 1, column: 1, function: "").file
        }
        #expect(
            file("generated/@__swiftmacro_3App5ModelC5count18ObservationTrackedfMa_.swift")
                == "Model.count@ObservationTracked")
        #expect(file("generated/@__swiftmacro_fMa_.swift") == "@__swiftmacro_fMa_.swift")
        #expect(file("Sources/App/Model.swift") == "Model.swift")
    }

    @Test("the first read in a function with many variables")
    func manyVariables() throws {
        try Self.expectOneStep(onEachOf: 1) { numbers in
            let first = numbers.one
            let (a, b, c, d) = ((first, 1), (first, 2), (first, 3), (first, 4))
            let (e, f, g, h) = (String(first), [first], Set([first]), [first: first])
            let (i, j, k, l) = ((a, b), (c, d), [a.0: b], [c.0: d])
            let (m, n, o, p) = (String(a.0), [b], Set([c.0]), [d.0: d])
            keep(e, f, g, h, i, j, k, l, m, n, o, p)
        }
    }

    /// The functions of Dispatch that wait for a time have neither a frame nor unwind tables.
    @Test("waits with a time limit")
    func timedWaits() throws {
        let (semaphore, group) = (DispatchSemaphore(value: 1), DispatchGroup())
        try Self.expectOneStep(onEachOf: 3) { _ in
            _ = semaphore.wait(timeout: .now() + 1)
            _ = group.wait(timeout: .distantFuture)
            semaphore.signal()
        }
    }

    @Test("a file with the line ends of Windows")
    func lineEnds() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try "first\r\n  second\r\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(SourceText.line(2, of: file.path) == "second")
    }
}
