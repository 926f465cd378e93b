#if os(Linux)
    import Foundation
    import Testing

    @testable import RaceLab

    /// Code under test that ends the process, by a call or by a crash. Each test runs in a process of
    /// its own.
    @Suite("Code under test that ends the process", .needsTheLab)
    struct EarlyEndTests {
        private final class Shared: @unchecked Sendable {
            var value = 0
            var small: Int8 = 126
        }

        /// Two threads; the first accesses the shared object and then does what is to be tested. The
        /// Swift runtime reports no crash in addition.
        private static func run(_ body: @escaping (Shared) -> Void) {
            for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] { signal(number, SIG_DFL) }
            _ = explore { scenario in
                let shared = Shared()
                scenario.thread("first") {
                    shared.value += 1
                    body(shared)
                }
                scenario.thread("second") { shared.value += 1 }
            }
        }

        private static func arguments(_ words: String...) -> [UnsafeMutablePointer<CChar>?] {
            words.map { strdup($0) } + [nil]
        }

        private func expect(
            _ result: ExitTest.Result?, _ words: String...,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            for word in words + [".childProcess()", "in the interleaving F"] {
                #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation)
            }
        }

        // What the tests run, and the lines. A closure in the macro is in another file.
        private static let exit = #line + 1
        private static func exitWithSuccess(_ shared: Shared) { Glibc.exit(0) }
        private static let overflow = #line + 3
        private static func addTwice(_ shared: Shared) {
            shared.small += 1
            shared.small += 1
            shared.value += 1
        }
        private static let abort = #line + 1
        private static func giveUp(_ shared: Shared) { Glibc.abort() }

        // MARK: Calls

        @Test("exit(0) is not a success, and its place and interleaving are reported")
        func exits() async {
            let result = await #expect(
                processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
            ) { Self.run(Self.exitWithSuccess) }
            expect(
                result, "'first' ends the process with exit(0) at EarlyEndTests.swift:\(Self.exit)")
        }

        @Test("neither is _exit, _Exit or quick_exit")
        func otherExits() async {
            await #expect(processExitsWith: .exitCode(70)) { Self.run { _ in _exit(0) } }
            await #expect(processExitsWith: .exitCode(70)) { Self.run { _ in _Exit(0) } }
            await #expect(processExitsWith: .exitCode(70)) { Self.run { _ in quick_exit(0) } }
        }

        @Test("neither is another program in place of the process")
        func otherProgram() async {
            let result = await #expect(
                processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
            ) { Self.run { _ in execv("/bin/true", Self.arguments("/bin/true")) } }
            expect(result, "'first' replaces the process by another program (execv)")
            await #expect(processExitsWith: .exitCode(70)) {
                Self.run { _ in execvp("true", Self.arguments("true")) }
            }
        }

        @Test("a program that does not exist does not replace the process")
        func noProgram() async {
            await #expect(processExitsWith: .exitCode(3)) {
                Self.run { _ in
                    precondition(execv("/nonexistent", Self.arguments("x")) == -1)
                    precondition(execv("/", Self.arguments("x")) == -1)
                    precondition(execvp("no such program", Self.arguments("x")) == -1)
                }
                Glibc.exit(3)
            }
        }

        @Test("neither is the end of the process in a check, or in the set-up")
        func betweenRuns() async {
            await #expect(processExitsWith: .exitCode(70)) {
                _ = explore { scenario in
                    let shared = Shared()
                    scenario.thread("only") { shared.value += 1 }
                    scenario.check { Glibc.exit(0) }
                }
            }
            await #expect(processExitsWith: .exitCode(70)) { _ = explore { _ in Glibc.exit(0) } }
        }

        @Test("a process that is no exploration ends as usual, and so does a child of the code")
        func otherProcesses() async {
            await #expect(processExitsWith: .exitCode(4)) {
                Self.run { _ in
                    var child = pid_t()
                    let arguments = Self.arguments("true")
                    precondition(posix_spawn(&child, "/bin/true", nil, nil, arguments, nil) == 0)
                    var status: Int32 = 1
                    waitpid(child, &status, 0)
                    precondition(status == 0)
                }
                Glibc.exit(4)
            }
        }

        // MARK: Crashes

        @Test("an arithmetic overflow is named, at its line")
        func overflow() async {
            let result = await #expect(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) { Self.run(Self.addTwice) }
            expect(
                result,
                "'first' crashes at EarlyEndTests.swift:\(Self.overflow): "
                    + "Arithmetic overflow (SIGILL)")
        }

        @Test("`abort` is reported at its line")
        func aborts() async {
            let result = await #expect(
                processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
            ) { Self.run(Self.giveUp) }
            expect(result, "'first' crashes at EarlyEndTests.swift:\(Self.abort) (SIGABRT)")
        }

        // MARK: The stack

        private static func recurse(_ depth: Int, _ shared: Shared) -> Int {
            depth == 0 ? shared.value : recurse(depth - 1, shared) + 1
        }

        @Test("a recursion that fits on the stack of the main thread fits on that of a thread")
        func recursion() async {
            await #expect(processExitsWith: .success) {
                Self.run { shared in precondition(Self.recurse(20_000, shared) > 0) }
            }
        }

        @Test("a recursion that does not end is reported")
        func endlessRecursion() async {
            let result = await #expect(
                processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]
            ) { Self.run { shared in _ = Self.recurse(.max, shared) } }
            expect(result, "'first' overflows its stack at EarlyEndTests.swift:")
        }
    }
#endif
