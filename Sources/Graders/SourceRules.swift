/// What the sources of an answer may not use.
///
/// An answer is judged by what it does under every interleaving. One that first finds out who is
/// watching, and behaves accordingly, would be judged by something else; so whatever tells it has
/// to stay out. That is a fence, and no wall: see `Exercises/TEACHING.md`.
enum SourceRules {
    struct Forbidden: Sendable {
        /// A name, wherever it stands; or words in a row, such as `# fileID`.
        let words: [String]
        let why: String
        /// Whether an answer may have something of its own of this name.
        let mayBeOwn: Bool

        init(_ text: String, _ why: String, mayBeOwn: Bool = false) {
            words = text.split(separator: " ").map(String.init)
            self.why = why
            self.mayBeOwn = mayBeOwn
        }
    }

    private static let imports: Set<String> = [
        "Dispatch", "Foundation", "PromiseOperators", "Stage3ThreadSafe", "Synchronization",
    ]

    private static let asksWhoIsWatching =
        "an answer has to be right wherever it runs, and has no need to find out where that is"
    private static let reachesOut =
        "an answer has no business outside of its own objects"

    private static let runsTooEarly =
        "an answer does nothing before it is tried, and is known by no other name"

    /// For finding out. These names are so plain that an answer may use them for something of its own.
    private static let asking = [
        "ProcessInfo", "CommandLine", "Bundle", "Backtrace", "getenv", "environ", "getpid",
        "getppid",
        "getpgrp", "getrlimit", "getrusage", "isMainThread", "threadDictionary", "qualityOfService",
        "DispatchTime", "ContinuousClock", "SuspendingClock", "Date", "clock_gettime",
        "gettimeofday",
        "mach_absolute_time",
    ]
    private static let askingInAnyCase = [
        "callStackSymbols", "callStackReturnAddresses", "dladdr", "pthread_getname_np", "# fileID",
        "# filePath", "# file", "_typeByName", "NSClassFromString", "NSTemporaryDirectory",
        "NSHomeDirectory", "temporaryDirectory",
    ]
    /// For ending the process, for its signals and its files. To use one of these would do no more harm
    /// than to the answer itself.
    private static let reaching = [
        "exit", "_exit", "_Exit", "quick_exit", "atexit", "abort", "kill", "raise", "signal",
        "open",
        "write", "pwrite", "dup2", "socket",
    ]
    private static let reachingInAnyCase = [
        "dlsym", "dlopen", "fork", "vfork", "system", "popen", "posix_spawn", "posix_spawnp",
        "execl",
        "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve", "setsid", "setpgid",
        "daemon", "forkpty", "login_tty", "wordexp", "clone", "ptrace", "prctl", "syscall", "setrlimit", "prlimit", "sigaction",
        "process_vm_readv", "process_vm_writev", "mprotect", "Process", "FileManager", "FileHandle",
        "fopen", "fdopen", "freopen", "openat", "contentsOfFile", "String ( contentsOf",
        "Data ( contentsOf", "NSData", "InputStream", "OutputStream", "setenv", "putenv",
        "_silgen_name", "_cdecl", "_dynamicReplacement", "_extern", "unsafeBitCast", "URLSession",
        "testable", "_spi",
    ]
    /// Attributes by which code is run when it is loaded, or takes the place of other code.
    private static let early = [
        "@ section", "@ _section", "@ used", "@ _used", "@ c", "@ _alwaysEmit",
    ]

    static let forbidden: [Forbidden] =
        asking.map { Forbidden($0, asksWhoIsWatching, mayBeOwn: true) }
        + askingInAnyCase.map { Forbidden($0, asksWhoIsWatching) }
        + reaching.map { Forbidden($0, reachesOut, mayBeOwn: true) }
        + reachingInAnyCase.map { Forbidden($0, reachesOut) }
        + early.map { Forbidden($0, runsTooEarly) }

    /// For exercises that are given a clock.
    static let clockOfTheTests = [Forbidden("ManualClock", asksWhoIsWatching)]

    /// The finished operators of Stage 3, for exercises that ask to write them: each of these
    /// names, wherever it stands.
    static func finished(_ names: String...) -> [Forbidden] {
        names.map {
            Forbidden(
                $0,
                "Stage 3 has something finished of this name, and here you are to make it of "
                    + "simpler things (a variable of your own needs another name)")
        }
    }

    /// For exercises in which a promise is built from scratch.
    static let finishedThing = ["PromiseOperators", "Stage3ThreadSafe"].map {
        Forbidden($0, "the promise is to be built here, and not to be had from elsewhere")
    }

    /// For exercises whose handlers run inside the call that settles or observes.
    static let sentAway: [Forbidden] =
        ["async", "asyncAfter", "asyncAndWait", "await", "Task"].map {
            Forbidden(
                $0,
                "handlers have to run inside the call that settles or observes, and work that is sent "
                    + "away comes later (a queue can do it at once, with sync)")
        } + [
            Forbidden(
                "actor",
                "whoever is no actor himself has to wait for one with await, and cannot be told before "
                    + "his own call returns (a lock, an atomic or a queue can be used from anywhere)"
            )
        ]

    /// The first thing that may not be used: a sentence with its line. `nil` if there is none.
    static func objection(to source: SourceText, besides others: [Forbidden]) -> String? {
        let words = source.words
        for (index, word) in words.enumerated() where word.text == "import" {
            // `import struct Foundation.Date` names a kind first.
            let named = words.dropFirst(index + 1).prefix(2).map(\.text)
            guard named.isDisjoint(from: imports) else { continue }
            return "line \(word.line) imports \(named.first ?? "nothing"): an answer may import "
                + imports.sorted().joined(separator: ", ") + " and nothing else"
        }
        let own = declared(in: words)
        let found = (others + forbidden).compactMap { rule in
            words.indices.first {
                stands(rule.words, at: $0, in: words)
                    && !(rule.mayBeOwn && isOwn($0, in: words, declared: own))
            }
            .map { (line: words[$0].line, rule: rule) }
        }
        guard let first = found.min(by: { $0.line < $1.line }) else { return nil }
        return "line \(first.line) uses '\(first.rule.words.joined())': \(first.rule.why)"
    }

    private static func stands(
        _ wanted: [String], at index: Int, in words: [SourceText.Word]
    ) -> Bool {
        index + wanted.count <= words.count
            && zip(wanted, words[index...]).allSatisfy { $0 == $1.text }
    }

    /// Names of functions, parameters, properties and types that the source declares.
    private static func declared(in words: [SourceText.Word]) -> Set<String> {
        let kinds: Set = [
            "func", "var", "let", "case", "for", "struct", "class", "enum", "typealias",
        ]
        return Set(
            words.indices.dropFirst().filter { index in
                let isParameter =
                    index + 1 < words.count && words[index + 1].text == ":"
                    && ["(", ",", "_"].contains(words[index - 1].text)
                let isOfClosure =
                    index + 1 < words.count && words[index + 1].text == "in"
                    && words[index - 1].text == "{"
                return isParameter || isOfClosure || kinds.contains(words[index - 1].text)
            }.map { words[$0].text })
    }

    /// Whether a name is one of the answer's own: it is declared, or a member of something that is no
    /// module.
    private static func isOwn(
        _ index: Int, in words: [SourceText.Word], declared: Set<String>
    ) -> Bool {
        let isMember = index > 0 && words[index - 1].text == "."
        if isMember { return index < 2 || !modules.contains(words[index - 2].text) }
        return declared.contains(words[index].text)
    }

    private static let modules = imports.union(["Swift", "Glibc", "Darwin", "CoreFoundation"])
}

extension [String] {
    fileprivate func isDisjoint(from names: Set<String>) -> Bool {
        !contains { names.contains($0) }
    }
}
