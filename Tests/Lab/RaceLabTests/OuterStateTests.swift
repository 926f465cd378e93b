#if os(Linux)
    import Foundation
    import RaceLabTesting
    import Synchronization
    import Testing

    @testable import RaceLab

    // Of <sys/eventfd.h>.
    @_silgen_name("eventfd") private func eventfd(_ count: UInt32, _ flags: Int32) -> Int32
    @_silgen_name("eventfd_write") private func eventfd_write(_ file: Int32, _ by: UInt64) -> Int32
    @_silgen_name("eventfd_read")
    private func eventfd_read(_ file: Int32, _ to: UnsafeMutablePointer<UInt64>) -> Int32

    /// What threads share outside of the program's memory.
    @Suite("Files, sockets and the environment", .needsTheLab)
    struct OuterStateTests {
        /// A folder for one test.
        private final class Folder: @unchecked Sendable {
            let path: String
            private static let number = Atomic(0)
            let lock = NSLock()
            var count = 0
            private(set) var descriptor: Int32 = -1
            private(set) var ends: [Int32] = [0, 0]
            let event = eventfd(0, O_NONBLOCK)

            init() {
                path =
                    FileManager.default.temporaryDirectory
                    .appending(
                        path:
                            "outer-\(getpid())-\(Folder.number.add(1, ordering: .relaxed).newValue)"
                    )
                    .path
                mkdir(path, 0o700)
                write("1", to: "file")
                descriptor = open(self["file"], O_RDWR)
                pipe(&ends)
                for file in ends { _ = fcntl(file, F_SETFL, O_NONBLOCK) }
            }

            deinit {
                for file in [descriptor, event] + ends { close(file) }
                try? FileManager.default.removeItem(atPath: path)
            }

            subscript(name: String) -> String { "\(path)/\(name)" }

            func write(_ text: String, to name: String) {
                let file = open(self[name], O_WRONLY | O_CREAT | O_APPEND, 0o600)
                _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
                close(file)
            }
        }

        /// Two threads that do this, each with its name; `shared` is an access that makes steps.
        private static func explored(
            first: @escaping @Sendable (Folder) throws -> Void,
            second: (@Sendable (Folder) throws -> Void)? = nil
        ) -> Exploration {
            explore { scenario in
                let folder = Folder()
                for (name, body) in [("first", first), ("second", second ?? first)] {
                    scenario.thread(name) {
                        folder.lock.withLock { folder.count += 1 }
                        try body(folder)
                    }
                }
                scenario.check { try Scenario.require(folder.count == 2, "an update was lost") }
            }
        }

        /// Names the call of the code under test, or the function above that makes it.
        private func expectNoVerdict(
            _ exploration: Exploration, _ words: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            guard let (what, place) = exploration.uncontrolled else {
                Issue.record("\(exploration.summary)", sourceLocation: sourceLocation)
                return
            }
            #expect(what.contains(words), sourceLocation: sourceLocation)
            #expect(
                place.hasPrefix("OuterStateTests.swift:"), "\(place)",
                sourceLocation: sourceLocation)
        }

        @Test("a file that is created if it does not exist, by two threads, gives no verdict")
        func checkThenCreate() {
            expectNoVerdict(
                Self.explored(first: { folder in
                    if access(folder["new"], F_OK) != 0 { folder.write("x", to: "new") }
                }), "file")
            expectNoVerdict(
                Self.explored(first: { folder in
                    let path = folder["new"]
                    if !FileManager.default.fileExists(atPath: path) {
                        _ = FileManager.default.createFile(atPath: path, contents: nil)
                    }
                }), "file")
        }

        @Test(
            "so does what one thread changes and the other uses",
            arguments: [
                "write", "text", "remove", "rename", "list", "stream", "offset", "close", "folder",
                "pipe", "event", "input", "lock",
            ])
        func changes(kind: String) {
            expectNoVerdict(
                Self.explored(
                    first: { try Self.change(kind, $0) }, second: { try Self.use(kind, $0) }),
                "file")
        }

        private static func change(_ kind: String, _ folder: Folder) throws {
            switch kind {
            case "remove": unlink(folder["file"])
            case "rename": rename(folder["file"], folder["other"])
            case "text": try "2".write(toFile: folder["file"], atomically: false, encoding: .utf8)
            case "folder": mkdir(folder["file"], 0o700)
            case "offset": lseek(folder.descriptor, 0, SEEK_SET)
            case "close": close(folder.descriptor)
            case "pipe": _ = Glibc.write(folder.ends[1], "x", 1)
            case "event": _ = eventfd_write(folder.event, 1)
            case "input": _ = readLine()
            case "lock": flock(folder.descriptor, LOCK_EX)
            case "list": folder.write("2", to: "new")
            default: folder.write("2", to: "file")
            }
        }

        private static func use(_ kind: String, _ folder: Folder) throws {
            var byte: UInt8 = 0
            switch kind {
            case "list": _ = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            case "offset", "close": _ = read(folder.descriptor, &byte, 1)
            case "pipe": _ = read(folder.ends[0], &byte, 1)
            case "event":
                var count: UInt64 = 0
                _ = eventfd_read(folder.event, &count)
            case "input": _ = readLine()
            case "lock": flock(folder.descriptor, LOCK_UN)
            case "stream":
                guard let file = fopen(folder["file"], "r") else { return }
                _ = fgetc(file)
                fclose(file)
            case "folder": _ = access(folder["file"], F_OK)
            default: _ = try? String(contentsOfFile: folder["file"], encoding: .utf8)
            }
        }

        @Test("under a lock, the order is explored, and there is a verdict")
        func locked() {
            let exploration = Self.explored(first: { folder in
                folder.lock.withLock {
                    if access(folder["new"], F_OK) != 0 { folder.write("x", to: "new") }
                }
            })
            #expect(exploration.survives, "\(exploration.summary)")
        }

        @Test("reading, work on files of one's own, and output do not count")
        func harmless() {
            let reading = Self.explored(first: { folder in
                _ = try String(contentsOfFile: folder["file"], encoding: .utf8)
                _ = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            })
            #expect(reading.survives, "\(reading.summary)")
            let work: (String) -> @Sendable (Folder) throws -> Void = { name in
                { folder in
                    folder.write("x", to: name)
                    try "y".write(toFile: folder[name], atomically: true, encoding: .utf8)
                    _ = try String(contentsOfFile: folder[name], encoding: .utf8)
                    unlink(folder[name])
                }
            }
            let own = Self.explored(first: work("one"), second: work("two"))
            #expect(own.survives, "\(own.summary)")
            let output = Self.explored(first: { _ in
                print("", terminator: "")
                _ = Glibc.write(STDERR_FILENO, "", 0)
            })
            #expect(output.survives, "\(output.summary)")
        }

        @Test("sockets that two threads use give no verdict")
        func sockets() {
            let exploration = explore { scenario in
                var ends: [Int32] = [0, 0]
                socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends)
                let (one, other, shared) = (ends[0], ends[1], Folder())
                scenario.thread("sends") {
                    shared.lock.withLock { shared.count += 1 }
                    _ = send(one, "x", 1, 0)
                }
                scenario.thread("receives") {
                    shared.lock.withLock { shared.count += 1 }
                    var byte: UInt8 = 0
                    _ = recv(other, &byte, 1, Int32(MSG_DONTWAIT))
                }
                scenario.check {
                    close(one)
                    close(other)
                }
            }
            expectNoVerdict(exploration, "file")
        }

        @Test("a change of the environment, of the current directory, of the locale")
        func settings() {
            expectNoVerdict(
                Self.explored(
                    first: { _ in setenv("RACELAB_TEST", "1", 1) },
                    second: { _ in _ = getenv("RACELAB_TEST") }), "environment variable")
            expectNoVerdict(
                Self.explored(
                    first: { _ in unsetenv("RACELAB_TEST") },
                    second: { _ in _ = ProcessInfo.processInfo.environment["RACELAB_TEST"] }),
                "environment")
            let distinct = Self.explored(
                first: { _ in setenv("RACELAB_TEST", "1", 1) },
                second: { _ in _ = getenv("HOME") })
            #expect(distinct.survives, "\(distinct.summary)")
            expectNoVerdict(
                Self.explored(
                    first: { _ in chdir(".") }, second: { _ in _ = access("file", F_OK) }),
                "file")
            expectNoVerdict(
                Self.explored(first: { _ in _ = setlocale(LC_ALL, "C") }), "locale")
            expectNoVerdict(
                Self.explored(
                    first: { _ in _ = signal(SIGUSR1, SIG_IGN) },
                    second: { _ in _ = signal(SIGUSR1, SIG_IGN) }), "signal")
        }

        // MARK: State that earlier runs leave behind

        private final class Registry: @unchecked Sendable {
            nonisolated(unsafe) static var shared = Registry()
            let lock = NSLock()
            var items: [Int] = []
        }

        @Test("a singleton that keeps its state from run to run gives no verdict")
        func singleton() {
            Registry.shared = Registry()
            let exploration = explore { scenario in
                scenario.threads("first", "second") {
                    Registry.shared.lock.withLock { Registry.shared.items.append(1) }
                }
                scenario.check {
                    try Scenario.require(Registry.shared.items.count == 2, "not two items")
                }
            }
            #expect(exploration.inconclusive != nil, "\(exploration.summary)")
        }
    }
#endif
