#if os(Linux)
    import Foundation
    import RaceLabTesting
    import Synchronization
    import Testing

    @testable import RaceLab

    @_silgen_name("epoll_wait")
    private func epoll_wait(
        _ set: Int32, _ events: UnsafeMutableRawPointer?, _ count: Int32, _ time: Int32
    ) -> Int32
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
            private(set) var sockets: [Int32] = [0, 0]
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
                mkdir(self["sub"], 0o700)
                write("1", to: "sub/x")
                symlink("new", self["link"])
                symlink("sub", self["way"])
                descriptor = open(self["file"], O_RDWR)
                pipe(&ends)
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets)
                for file in ends { _ = fcntl(file, F_SETFL, O_NONBLOCK) }
            }

            deinit {
                for file in [descriptor, event] + ends + sockets { close(file) }
                try? FileManager.default.removeItem(atPath: path)
            }

            subscript(name: String) -> String { "\(path)/\(name)" }

            func write(_ text: String, to name: String) {
                let file = open(self[name], O_WRONLY | O_CREAT | O_APPEND, 0o600)
                _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
                close(file)
            }
        }

        /// Two threads that do this, after steps of their own.
        private static func threads(
            _ scenario: Scenario, _ first: @escaping @Sendable (Folder) throws -> Void,
            _ second: @escaping @Sendable (Folder) throws -> Void
        ) {
            let folder = Folder()
            for (name, body) in [("first", first), ("second", second)] {
                scenario.thread(name) {
                    folder.lock.withLock { folder.count += 1 }
                    try body(folder)
                }
            }
            scenario.check { try Scenario.require(folder.count == 2, "an update was lost") }
        }

        // MARK: Calls that conflict

        private struct Conflict: Sendable {
            let name: String
            let change: @Sendable (Folder) throws -> Void
            let use: @Sendable (Folder) throws -> Void

            init(
                _ name: String, _ change: @escaping @Sendable (Folder) throws -> Void,
                _ use: @escaping @Sendable (Folder) throws -> Void
            ) {
                (self.name, self.change, self.use) = (name, change, use)
            }
        }

        private static let files: [Conflict] = [
            Conflict("write", { $0.write("2", to: "file") }, readText),
            Conflict(
                "text",
                { try "2".write(toFile: $0["file"], atomically: false, encoding: .utf8) }, readText),
            Conflict("remove", { unlink($0["file"]) }, readText),
            Conflict("rename", { rename($0["file"], $0["other"]) }, readText),
            Conflict("stream", { $0.write("2", to: "file") }, readStream),
            Conflict("folder", { mkdir($0["file"], 0o700) }, { _ = access($0["file"], F_OK) }),
            Conflict(
                "list", { $0.write("2", to: "new") },
                { _ = try FileManager.default.contentsOfDirectory(atPath: $0.path) }),
        ]

        /// Both calls change something, so the second is not tried alone.
        private static let changes: [Conflict] = [
            Conflict("offset", { lseek($0.descriptor, 0, SEEK_SET) }, { readByte($0.descriptor) }),
            Conflict("close", { close($0.descriptor) }, { readByte($0.descriptor) }),
            Conflict("pipe", fillPipe, { readByte($0.ends[0]) }),
            Conflict("event", { _ = eventfd_write($0.event, 1) }, readEvent),
            Conflict("input", { _ in _ = readLine() }, { _ in _ = readLine() }),
            Conflict(
                "lock", { flock($0.descriptor, LOCK_EX) }, { flock($0.descriptor, LOCK_UN) }),
            Conflict("created by both", createIfMissing, createIfMissing),
        ]

        private static func readText(_ folder: Folder) {
            _ = try? String(contentsOfFile: folder["file"], encoding: .utf8)
        }

        private static func readStream(_ folder: Folder) {
            guard let file = fopen(folder["file"], "r") else { return }
            _ = fgetc(file)
            fclose(file)
        }

        private static func readByte(_ file: Int32) {
            var byte: UInt8 = 0
            _ = read(file, &byte, 1)
        }

        private static func readEvent(_ folder: Folder) {
            var count: UInt64 = 0
            _ = eventfd_read(folder.event, &count)
        }

        private static func createIfMissing(_ folder: Folder) {
            let path = folder["new"]
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil)
            }
        }

        private static let names: [Conflict] = [
            Conflict("creat", { close(creat($0["new"], 0o600)) }, { _ = access($0["new"], F_OK) }),
            Conflict("glob", { $0.write("x", to: "new") }, globFolder),
            Conflict("readdir", { $0.write("x", to: "new") }, readFolder),
            Conflict("realpath", { mkdir($0["new"], 0o700) }, { free(realpath($0["new"], nil)) }),
            Conflict("utimes", { utimes($0["file"], nil) }, readTimes),
            Conflict("futimens", { futimens($0.descriptor, nil) }, readTimes),
            Conflict("utimensat", { utimensat(AT_FDCWD, $0["file"], nil, 0) }, readTimes),
            Conflict(
                "symbolic link", { close(open($0["new"], O_WRONLY | O_CREAT, 0o600)) },
                { _ = access($0["link"], F_OK) }),
            Conflict(
                "parent", { rename($0["sub"], $0["other"]) }, { _ = access($0["sub/x"], F_OK) }),
            Conflict(
                "parent of the target", { rename($0["sub"], $0["other"]) },
                { _ = access($0["way/x"], F_OK) }),
            Conflict("number of links", { unlink($0["file"]) }, countLinks),
            Conflict("fchdir", changeFolder, { _ in free(getcwd(nil, 0)) }),
            Conflict("relative path", changeFolder, { _ in _ = access("file", F_OK) }),
            Conflict(
                "enumerator", { $0.write("x", to: "sub/new") },
                { _ = FileManager.default.enumerator(atPath: $0.path)?.allObjects }),
        ]

        private static func globFolder(_ folder: Folder) {
            var found = glob_t()
            glob(folder["*"], 0, nil, &found)
            globfree(&found)
        }

        private static func readFolder(_ folder: Folder) {
            let names = fdopendir(open(folder.path, O_RDONLY))!
            while readdir(names) != nil {}
            closedir(names)
        }

        private static func readTimes(_ folder: Folder) {
            var status = stat()
            stat(folder["file"], &status)
        }

        private static func countLinks(_ folder: Folder) {
            var status = stat()
            fstat(folder.descriptor, &status)
        }

        private static func fillPipe(_ folder: Folder) { _ = Glibc.write(folder.ends[1], "x", 1) }

        private static let descriptors: [Conflict] = [
            Conflict("poll", fillPipe, pollPipe),
            Conflict("select", fillPipe, selectPipe),
            Conflict("FIONREAD", fillPipe, countBytes),
            Conflict("F_GETFD", { close($0.ends[0]) }, { _ = fcntl($0.ends[0], F_GETFD) }),
            Conflict(
                "F_GETFL", { _ = fcntl($0.ends[0], F_SETFL, 0) },
                { _ = fcntl($0.ends[0], F_GETFL) }),
            Conflict("getsockopt", enlargeBuffer, readBuffer),
            Conflict("mmap", { $0.write("x", to: "file") }, mapFile),
        ]

        private static func pollPipe(_ folder: Folder) {
            var end = pollfd(fd: folder.ends[0], events: Int16(POLLIN), revents: 0)
            poll(&end, 1, 0)
        }

        private static func selectPipe(_ folder: Folder) {
            let end = Int(folder.ends[0])
            var set = fd_set()
            var time = timeval()
            withUnsafeMutableBytes(of: &set) { $0[end / 8] |= 1 << UInt8(end % 8) }
            select(Int32(end) + 1, &set, nil, nil, &time)
        }

        private static func countBytes(_ folder: Folder) {
            var count: Int32 = 0
            _ = ioctl(folder.ends[0], UInt(FIONREAD), &count)
        }

        private static func enlargeBuffer(_ folder: Folder) {
            var size: Int32 = 9999
            setsockopt(folder.sockets[0], SOL_SOCKET, SO_RCVBUF, &size, 4)
        }

        private static func readBuffer(_ folder: Folder) {
            var size: Int32 = 0
            var length = socklen_t(4)
            getsockopt(folder.sockets[0], SOL_SOCKET, SO_RCVBUF, &size, &length)
        }

        private static func mapFile(_ folder: Folder) {
            let memory = mmap(nil, 1, PROT_READ, Int32(MAP_SHARED), folder.descriptor, 0)
            munmap(memory, 1)
        }

        private static let variables: [Conflict] = [
            Conflict("TZ", { _ in setenv("TZ", "UTC", 1) }, readZone),
            Conflict("mktime", { _ in setenv("TZ", "UTC", 1) }, makeTime),
            Conflict("popen", setVariable, { _ in pclose(popen(":", "r")) }),
            Conflict("system", setVariable, { _ in _ = system(":") }),
            Conflict(
                "environment", setVariable,
                { _ in _ = ProcessInfo.processInfo.environment["RACELAB_TEST"] }),
        ]

        private static func setVariable(_: Folder) { setenv("RACELAB_TEST", "1", 1) }

        private static func changeFolder(_: Folder) {
            let here = open(".", O_RDONLY)
            fchdir(here)
            close(here)
        }

        private static func readZone(_: Folder) {
            var (time, parts) = (time_t(), tm())
            localtime_r(&time, &parts)
        }

        private static func makeTime(_: Folder) {
            var parts = tm()
            mktime(&parts)
        }

        private static let looks: [Conflict] = files + names + descriptors + variables

        @Test("has its known result", arguments: conflicts + looking + others)
        func known(_ program: KnownProgram) { program.check() }

        private static let conflicts = (looks + changes).flatMap { conflict in
            let isVariable = variables.contains { $0.name == conflict.name }
            return [
                KnownProgram(
                    "calls that conflict: \(conflict.name)",
                    noVerdict: isVariable ? "environment" : "file"
                ) {
                    threads($0, conflict.change, conflict.use)
                },
                KnownProgram("calls that conflict, under a lock: \(conflict.name)") { scenario in
                    threads(scenario) { folder in
                        try folder.lock.withLock { try conflict.change(folder) }
                    } _: { folder in
                        try folder.lock.withLock { try conflict.use(folder) }
                    }
                },
            ]
        }

        private static let looking = looks.map { look in
            KnownProgram("two calls that only look: \(look.name)") {
                threads($0, look.use, look.use)
            }
        }

        private static let others = [
            both("a signal to the process group", noVerdict: "signal") { killpg(0, SIGURG) },
            both("a signal with a value", noVerdict: "signal") {
                sigqueue(getpid(), SIGURG, sigval())
            },
            both("epoll", noVerdict: "epoll") { _ = epoll_wait(-1, nil, 1, 0) },
            both("harmless signals") {
                kill(getpid(), 0)
                raise(SIGURG)
            },
            KnownProgram("each on a part of a folder") { threads($0, work("one"), work("two")) },
            KnownProgram("each on a variable") {
                threads($0, setVariable) { _ in _ = getenv("HOME") }
            },
        ]

        private static func both(
            _ name: String, noVerdict: String? = nil, _ call: @escaping @Sendable () -> Void
        ) -> KnownProgram {
            KnownProgram(name, noVerdict: noVerdict) {
                threads($0, { _ in call() }, { _ in call() })
            }
        }

        private static func work(_ name: String) -> @Sendable (Folder) throws -> Void {
            { folder in
                let path = folder["sub/\(name)"]
                let files = FileManager.default
                try files.createDirectory(atPath: path, withIntermediateDirectories: true)
                folder.write("x", to: "sub/\(name)/x")
                try "y".write(toFile: "\(path)/y", atomically: true, encoding: .utf8)
                symlink("../x", "\(path)/link")
                _ = access("\(path)/link", F_OK)
                _ = files.enumerator(atPath: path)?.allObjects
                unlink("\(path)/link")
                try files.removeItem(atPath: path)
                close(open(folder.path, O_RDONLY))
            }
        }
    }
#endif
