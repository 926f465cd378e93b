/// What the sources of an answer may not use.
///
/// An answer is judged by what it does under every interleaving. One that first finds out who is
/// watching, and behaves accordingly, would be judged by something else; so whatever tells it has
/// to stay out. That is a fence, and no wall: see `Exercises/TEACHING.md`.
enum SourceRules {
    struct Forbidden: Sendable {
        /// A name, wherever it stands; or words in a row, such as `AWPromise . all`.
        let words: [String]
        let why: String

        init(_ text: String, _ why: String) {
            words = text.split(separator: " ").map(String.init)
            self.why = why
        }
    }

    private static let imports: Set<String> = [
        "Dispatch", "Foundation", "PromiseOperators", "Stage3ThreadSafe", "Synchronization",
    ]

    private static let asksWhoIsWatching =
        "an answer has to be right wherever it runs, and has no need to find out where that is"
    private static let reachesOut =
        "an answer has no business outside of its own objects"

    static let forbidden: [Forbidden] =
        [
            "ProcessInfo", "CommandLine", "Bundle", "Backtrace", "callStackSymbols",
            "callStackReturnAddresses", "getenv", "environ", "getpid", "getppid", "dladdr",
            "pthread_getname_np", "isMainThread", "threadDictionary", "qualityOfService",
            "DispatchTime", "ContinuousClock", "SuspendingClock", "Date", "clock_gettime",
            "gettimeofday", "mach_absolute_time",
        ].map { Forbidden($0, asksWhoIsWatching) }
        + [
            "dlsym", "dlopen", "fork", "execv", "execve", "posix_spawn", "Process", "FileManager",
            "FileHandle", "fopen", "exit", "_exit", "abort", "kill",
            "setenv", "_silgen_name", "_cdecl", "_dynamicReplacement", "_extern",
            "unsafeBitCast", "URLSession", "socket", "testable", "_spi",
        ].map { Forbidden($0, reachesOut) }

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
        let found = (others + forbidden).compactMap { rule in
            words.indices.first { stands(rule.words, at: $0, in: words) }
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
}

extension [String] {
    fileprivate func isDisjoint(from names: Set<String>) -> Bool {
        !contains { names.contains($0) }
    }
}
