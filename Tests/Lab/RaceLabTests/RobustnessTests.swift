import CRaceLab
import Foundation
import RaceLabTesting
import SharedSuite
import Synchronization
import Testing

@testable import RaceLab

/// The results of the lab do not depend on the process in which it runs.
@Suite("The lab is robust", .needsTheLab)
struct RobustnessTests {
    // MARK: Instructions

    /// On x86-64, the bytes of these numbers are those of `lock cmpxchg`. `min` and `max` of an
    /// atomic variable are made of that instruction.
    @Test("a number is not taken for an atomic instruction")
    func numbers() {
        final class Box {
            var value = 0
        }
        let exploration = explore { scenario in
            let box = Box()
            scenario.thread("first") { box.value += 0x00B1_0FF0 }
            scenario.thread("second") { box.value ^= 0x08B0_0FF0 }
        }
        #expect(exploration.inconclusive == nil)
        #expect(exploration.findings.map(\.kind) == [.overlap])
    }

    // MARK: Hashing

    private final class Account {
        var balance = 0
        let lock = Mutex(())
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test("sets of equal elements have the same order, wherever the elements are in memory")
    func hashing() {
        let sets = (0..<20).map { _ in Set((0..<40).map { "element \($0)" }) }
        #expect(Set(sets.map(Array.init)).count == 1)
        // Deterministic hashing gives the same value in every process.
        #expect(1.hashValue == 2206609067086327257)
        #expect("a".hashValue == 8186225505942432243)
    }

    // MARK: Causes

    /// Numbers that go on from run to run.
    private enum Generator {
        nonisolated(unsafe) private static var last = 1
        static func random(below limit: Int) -> Int {
            last = (last &* 1_103_515_245 &+ 12_345) & 0x7FFF_FFFF
            return (last >> 8) % limit
        }
    }

    @Test("a scenario that is not deterministic is reported with the likely cause")
    func likelyCause() throws {
        final class Box {
            var value = 0
        }
        let exploration = explore { scenario in
            let boxes = (0..<64).map { _ in Box() }
            scenario.thread("first") {
                // Eight numbers, different ones in each run.
                for _ in 0..<8 {
                    let index = Generator.random(below: 64)
                    for box in boxes.prefix(index) { box.value += 1 }
                }
                boxes[0].value += 1
            }
            scenario.thread("second") { boxes[0].value += 1 }
        }
        guard
            case .notDeterministicBecauseOf(let place, let text, let reason)? = exploration
                .inconclusive
        else {
            Issue.record("\(exploration.summary)")
            return
        }
        #expect(place.hasPrefix("RobustnessTests.swift:"))
        #expect(text.hasPrefix("last = (last &* 1_103_515_245"))
        #expect(reason.hasPrefix("it changes state that is older than the run"))
        #expect(exploration.summary.contains(text))
    }

    private final class LazilyLocked {
        lazy var lock = NSLock()
        static let line = #line - 1
        var value = 0
    }

    @Test("a race in creating a lazy lock is reported at the lazy variable")
    func lazyLock() {
        let exploration = explore { scenario in
            let model = LazilyLocked()
            scenario.threads("first", "second") {
                model.lock.lock()
                model.value += 1
                model.lock.unlock()
            }
        }
        // Whether or not the two locks make runs differ, the message names the lazy variable.
        let said = exploration.summary + exploration.findings.map(\.reason).joined(separator: "\n")
        #expect(!exploration.survives)
        #expect(said.contains("RobustnessTests.swift:\(LazilyLocked.line)"))
    }

    // MARK: The watchdog

    @Test("work of the lab itself is not mistaken for code that blocks")
    func ownWork() {
        var hasWaited = false
        let exploration = explore { scenario in
            let account = Account(1)
            scenario.thread("only") { account.balance += 1 }
            scenario.check {
                rl_begin_own_work()
                // After 100 looks, a thread that sleeps counts as blocked, whatever else runs.
                if !hasWaited { rl_wait_for_looks(102) }
                hasWaited = true
                rl_end_own_work()
            }
        }
        #expect(exploration.survives)
    }

    #if os(Linux)
        // MARK: Processors

        /// The numbers of the processors on which the calling thread may run.
        private static var allowed: Set<Int> {
            get {
                var bits = none
                _ = call("sched_getaffinity", &bits)
                return Set((0..<1024).filter { bits[$0 / 64] & bit(of: $0) != 0 })
            }
            set {
                var bits = none
                for processor in newValue { bits[processor / 64] |= bit(of: processor) }
                #expect(call("sched_setaffinity", &bits) == 0)
            }
        }

        private static func bit(of processor: Int) -> UInt64 { 1 << UInt64(processor % 64) }

        private static let none = [UInt64](repeating: 0, count: 16)

        /// Swift does not import the functions that only Linux has.
        private static func call(_ name: String, _ bits: inout [UInt64]) -> CInt {
            typealias Function = @convention(c) (pid_t, Int, UnsafeMutablePointer<UInt64>) -> CInt
            let function = unsafeBitCast(dlsym(nil, name), to: Function.self)
            return function(0, MemoryLayout<UInt64>.size * bits.count, &bits)
        }

        @Test("all threads use the caller's processor, and the caller is unrestricted afterwards")
        func bound() {
            let before = Self.allowed
            defer { Self.allowed = before }
            // On the second, the lab uses threads again that it has used on the first.
            for processor in before.sorted().prefix(2) {
                Self.allowed = [processor]
                let seen = Scenario.Log<Set<Int>>()
                let exploration = explore { scenario in
                    let shared = Shared()
                    scenario.threads("first", "second") {
                        shared.value += 1
                        seen.append(Self.allowed)
                    }
                }
                #expect(exploration.explored > 1, "\(exploration.summary)")
                #expect(Set(seen.entries) == [[processor]])
            }
            Self.allowed = before
            let seen = Scenario.Log<Int>()
            _ = explore { $0.thread("only") { seen.append(Self.allowed.count) } }
            #expect(Set(seen.entries) == [1])
            #expect(Self.allowed == before)
        }

        // MARK: Names

        @Test("each symbol that the C half exports has its prefix, or belongs to the toolchain")
        func names() throws {
            var objects: [String] = []
            for name in ["CRaceLab.build", "CRaceLabPrimitives.build"] {
                let folder = Commands.products.appending(path: name)
                let found = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    .filter { $0.hasSuffix(".o") }
                try #require(found.count > 10)
                objects += found.map { folder.appending(path: $0).path }
            }
            let list = try Commands.run(
                URL(filePath: "/usr/bin/env"), ["nm", "-P", "-g", "--defined-only"] + objects)
            try #require(list.status == 0, "\(list.errors)")
            let answered = [
                "pthread_", "dispatch_", "__atomic_", "__tsan_", "swift_", "$s15Synchronization",
                "_dispatch_", "_Block_", "_CFIsMainThread", "free", "malloc", "posix_memalign",
                "realloc", "$ss25isKnownUniquelyReferenced", "$ss20ManagedBufferPointer",
                "$ss27withTaskCancellationHandler", "sem_", "$sScT", "$sSct", "$sScG", "$sScg",
                "$ss19DiscardingTaskGroup", "$ss27ThrowingDiscardingTaskGroup", "clock_gettime",
                "exit", "_exit", "_Exit", "quick_exit", "exec", "fexecve", "syscall", "getrandom",
                "getentropy", "arc4random", "rand", "lrand48", "mrand48", "drand48", "read",
                "time", "gettimeofday", "access", "faccessat", "stat", "lstat", "fstat", "mkdir",
                "rmdir", "unlink", "remove", "symlink", "link", "rename", "truncate", "ftruncate",
                "chmod", "lseek", "write", "pread", "pwrite", "close", "dup", "send", "recv",
                "bind", "listen", "connect", "accept", "shutdown", "fread", "fwrite", "fgets",
                "fgetc", "getline", "__getdelim", "eventfd_", "fputs", "fputc", "vfprintf",
                "fseek", "fclose", "chdir", "getcwd", "open", "fopen", "mkstemp", "socket", "pipe",
                "getenv", "setenv", "unsetenv", "putenv", "setlocale", "umask", "alarm",
                "setitimer", "signal", "sigaction", "raise", "kill",
                "$s20FoundationEssentials11ProcessInfoC11environment",
                "$s20FoundationEssentials18NotificationCenterC0A0E",
                "$s10Foundation14OperationQueueC4main", "$s10Foundation6ThreadC5sleep", "semop",
                "flock", "lockf", "creat", "glob", "realpath", "utime", "futimens", "fchmod",
                "chown", "fchown", "setxattr", "getxattr", "mkfifo", "fts_read", "poll", "ppoll",
                "select", "pselect", "epoll_wait", "ioctl", "fcntl", "setsockopt", "getsockopt",
                "mmap", "fchdir", "sigqueue", "popen", "system", "tzset", "localtime", "mktime",
                "setrlimit", "nanosleep", "clock_nanosleep", "usleep", "sleep", "sched_yield",
            ]
            let symbols = list.output.split(separator: "\n").filter { !$0.hasSuffix(":") }
            try #require(symbols.count > 100)
            for symbol in symbols {
                let isFine = symbol.hasPrefix("rl_") || answered.contains(where: symbol.hasPrefix)
                #expect(isFine, "\(symbol)")
            }
        }
    #endif
}
