/// What an answer may not contain or use.
///
/// An answer is judged by what it does in every interleaving. An answer that detects the grader and
/// behaves differently there would escape that, so what helps to detect it is refused. A list stops
/// accidents and simple cheating, and no attacker: see `Exercises/TEACHING.md`.
struct Forbidden: Sendable {
    private enum Kind {
        /// A function or a variable of C, or of the runtime. Swift does not import those with
        /// variadic parameters, such as `syscall`.
        case symbol
        /// A declaration of a Swift module: its name, with those around it as in `Date.now`.
        case declaration
        /// An operator of Stage 3.
        case finished
        /// Several words in sequence in the source, such as `# fileID`.
        case words
    }

    private let kind: Kind
    private let parts: [Substring]
    private let why: String
    /// The name as the source writes it: that of the type, for an initializer.
    private let shown: String

    private init(_ kind: Kind, _ text: String, as shown: String? = nil, _ why: String) {
        self.kind = kind
        parts = text.split { kind == .words ? $0 == " " : $0 == "." }
        self.why = why
        let name = parts.last == "init" ? parts.dropLast().last! : parts[parts.count - 1]
        self.shown = shown ?? (kind == .words ? parts.joined() : String(name))
    }

    // MARK: The lists

    private static let asksWhoIsWatching =
        "an answer must be correct wherever it runs, and does not need to find out where that is"
    private static let reachesOut =
        "an answer needs nothing outside its own objects"
    private static let runsTooEarly =
        "an answer may not run code when it is loaded, or replace other code"
    private static let runsLater =
        "the grader looks at what has happened when a call that settles or observes returns, and "
        + "dispatched work may run later (a queue can run it at once, with sync)"
    private static let isReachedByAwait =
        "code outside an actor reaches it with await only, so a handler could not "
        + "run before the call returns (a lock, an atomic or a queue can be used from "
        + "any code)"

    /// For every exercise.
    static let anywhere: [Forbidden] =
        [
            "getenv", "environ", "getpid", "getppid", "getpgrp", "getrlimit", "getrusage",
            "clock_gettime", "gettimeofday", "mach_absolute_time", "dladdr", "pthread_getname_np",
        ].map { Forbidden(.symbol, $0, asksWhoIsWatching) }
        + [
            "ProcessInfo", "CommandLine", "Bundle", "Backtrace", "DispatchTime.uptimeNanoseconds",
            "ContinuousClock.now", "SuspendingClock.now", "Date.init", "Date.now",
            "callStackSymbols", "callStackReturnAddresses", "_typeByName", "NSClassFromString",
            "NSTemporaryDirectory", "NSHomeDirectory",
        ].map { Forbidden(.declaration, $0, asksWhoIsWatching) }
        + [
            ". isMainThread", ". threadDictionary", ". qualityOfService", "# fileID", "# filePath",
            "# file",
        ].map { Forbidden(.words, $0, asksWhoIsWatching) }
        + [
            "exit", "_exit", "_Exit", "quick_exit", "atexit", "abort", "kill", "raise", "signal",
            "open", "write", "pwrite", "dup2", "socket", "dlsym", "dlopen", "fork", "vfork",
            "system", "popen", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp",
            "execvpe", "fexecve", "setsid", "setpgid", "daemon", "forkpty", "login_tty", "wordexp",
            "setrlimit", "prlimit", "sigaction", "process_vm_readv", "process_vm_writev",
            "mprotect", "fopen", "fdopen", "freopen", "openat", "setenv", "putenv",
        ].map { Forbidden(.symbol, $0, reachesOut) }
        + [
            "Process", "FileManager", "FileHandle", "NSData", "InputStream", "OutputStream",
            "URLSession", "init.contentsOf", "init.contentsOfFile",
        ].map { Forbidden(.declaration, $0, reachesOut) }
        + [
            "@ _silgen_name", "@ _cdecl", "@ _dynamicReplacement", "@ _extern", "@ testable",
            "@ _spi", "unsafeBitCast",
        ].map { Forbidden(.words, $0, reachesOut) }
        + ["@ section", "@ _section", "@ used", "@ _used", "@ c", "@ _alwaysEmit"].map {
            Forbidden(.words, $0, runsTooEarly)
        }

    /// For exercises that receive a clock.
    static let clockOfTheTests = [Forbidden(.declaration, "ManualClock", asksWhoIsWatching)]

    /// Operators of Stage 3, for exercises that ask you to write them.
    static func finished(_ names: String...) -> [Forbidden] {
        names.map {
            Forbidden(
                .finished, $0,
                "Stage 3 has a finished operator of this name, and the exercise asks you to "
                    + "write it")
        }
    }

    /// For exercises in which a promise is built from scratch.
    static let finishedThing = ["PromiseOperators", "Stage3ThreadSafe"].map {
        Forbidden(.words, $0, "the exercise asks you to write the promise yourself")
    }

    /// For exercises in which a promise is made safe.
    static let mainQueue = [
        Forbidden(
            .declaration, "DispatchQueue.main",
            "on the main thread, a call that waits for the main queue never returns")
    ]

    /// For exercises whose handlers run inside the call that settles or observes.
    static let sentAway: [Forbidden] =
        ["async", "asyncAfter", "asyncAndWait"].map {
            Forbidden(.declaration, "DispatchQueue.\($0)", runsLater)
        } + [
            Forbidden(.symbol, "swift_task_create", as: "Task", runsLater),
            Forbidden(
                .symbol, "swift_defaultActor_initialize", as: "actor", isReachedByAwait),
            // The adapters do not compile with it, so it has no symbols.
            Forbidden(.words, "public actor", as: "actor", isReachedByAwait),
        ]

    // MARK: Objections

    private static let imports: Set<String> = [
        "Dispatch", "Foundation", "PromiseOperators", "Stage3ThreadSafe", "Synchronization",
    ]

    /// The first thing that stands in the source and is forbidden, as a sentence with its line;
    /// `nil` if there is none.
    static func objection(to source: SourceText, besides others: [Forbidden]) -> String? {
        let words = source.words
        for (index, word) in words.enumerated() where word.text == "import" && !word.isQuoted {
            // `import struct Foundation.Date` has a keyword before the module.
            let named = words.dropFirst(index + 1).prefix(2).map(\.text)
            guard imports.isDisjoint(with: named) else { continue }
            return "line \(word.line) imports \(named.first ?? "nothing"): an answer may import "
                + imports.sorted().joined(separator: ", ") + " and nothing else"
        }
        let found = (others + anywhere).compactMap { rule in
            guard rule.kind == .words else { return nil as (line: Int, rule: Forbidden)? }
            return words.indices.first { words.stand(rule.parts, at: $0) }
                .map { (words[$0].line, rule) }
        }
        return found.min { $0.line < $1.line }.map { $0.rule.objection(line: $0.line) }
    }

    /// The first thing that the compiled source uses and that is forbidden.
    ///
    /// - Parameters:
    ///   - names: what the answer uses and does not declare itself: see ``Workshop/usedNames()``.
    ///   - module: the module of the answer.
    static func objection(
        toUseOf names: [String], in source: SourceText, module: String, besides others: [Forbidden]
    ) -> String? {
        let used = names.map { UsedName($0) }.filter { !$0.path.contains(module[...]) }
        let found = (others + anywhere).filter { rule in used.contains(where: rule.isMeant) }
            .map { (line: source.lineOfUse(of: $0.shown, in: $0.parts.dropLast().last), rule: $0) }
        // What is not written, as in `.now`, comes last.
        return found.min { $0.line ?? .max < $1.line ?? .max }
            .map { $0.rule.objection(line: $0.line) }
    }

    private func objection(line: Int?) -> String {
        let place = line.map { "line \($0)" } ?? "it"
        return "\(place) uses '\(shown)': \(why)"
    }

    private func isMeant(by name: UsedName) -> Bool {
        switch kind {
        case .symbol:
            return name.path == parts || name.isOfC && name.path.dropFirst().first == parts[0]
        case .declaration: return name.contains(parts)
        case .finished: return name.isOfStage3 && name.contains(parts)
        case .words: return false
        }
    }
}

/// The name of something that an answer uses, as the compiler has recorded it:
/// `static (extension in PromiseOperators):Stage3ThreadSafe.AWPromise.race(…) -> …`.
private struct UsedName {
    /// The names of the declaration from the outermost on, after what it is, such as
    /// `type metadata accessor for`; then the first label, because initializers differ in it.
    let path: [Substring]

    init(_ name: String) {
        let text = name.replacing(#/\(extension in (\w+)\):/#) { "\($0.1)." }
        let end = text.firstIndex { "(<:".contains($0) } ?? text.endIndex
        var path = text[..<end].split { " .".contains($0) }
            .map { $0 == "__allocating_init" ? "init" : $0 }
        let label = text[end...].dropFirst().prefix { $0.isLetter }
        if text[end...].hasPrefix("(\(label):") { path.append(label) }
        self.path = path
    }

    var isOfC: Bool { ["Glibc", "Darwin", "SwiftGlibc"].contains(path.first) }
    var isOfStage3: Bool {
        path.contains("Stage3ThreadSafe") || path.contains("PromiseOperators")
    }

    func contains(_ names: [Substring]) -> Bool {
        path.indices.contains { path[$0...].starts(with: names) }
    }
}

extension [SourceText.Word] {
    fileprivate func stand(_ wanted: [Substring], at index: Int) -> Bool {
        index + wanted.count <= count
            && zip(wanted, self[index...]).allSatisfy { $0 == $1.text }
    }
}

extension SourceText {
    /// Where a name is used and not declared; `nil` if it does not occur. If there is a place where
    /// it follows that of its type, that place.
    fileprivate func lineOfUse(of name: String, in type: Substring?) -> Int? {
        let places = words.indices.filter { words[$0].text == name }
        let member = places.first { place in
            place > 1 && type.map { words.stand([$0, "."], at: place - 2) } ?? false
        }
        let use =
            member
            ?? places.first { place in
                let before = place > 0 ? words[place - 1].text : ""
                let next = place + 1 < words.count ? words[place + 1].text : ""
                return before == "." || before != "func" && ["(", "<", "{", "."].contains(next)
            }
        return (use ?? places.first).map { words[$0].line }
    }

    /// Where the source keeps values behind a pointer or in a container of Foundation; `nil` if it
    /// does not. The lab does not see every access to them, so such an answer cannot pass. One that
    /// fails has failed.
    ///
    /// Locks of the system need an address that stays the same, and the lab sees their calls.
    var blindSpot: String? {
        let place = words.indices.first { index in
            let name = words[index].text
            guard hiding.contains(name) || name.hasPrefix("withUnsafeMutable") else {
                return words.stand(["unowned", "(", "unsafe"], at: index)
            }
            return !locks.contains { words.stand([name[...], "<", $0], at: index) }
        }
        return place.map {
            let name = words[$0].text == "unowned" ? "unowned(unsafe)" : words[$0].text
            return "line \(words[$0].line) uses '\(name)': the lab does not see every access to "
                + "the values in it, so it cannot say that the answer is right"
        }
    }
}

/// The pointers through which a source can write, and objects of Foundation that contain values.
private let hiding: Set = [
    "UnsafeMutablePointer", "UnsafeMutableRawPointer", "UnsafeMutableBufferPointer",
    "UnsafeMutableRawBufferPointer", "ManagedBuffer", "ManagedBufferPointer", "malloc", "calloc",
    "NSMutableArray", "NSMutableDictionary", "NSMutableSet", "NSMutableOrderedSet", "NSMutableData",
    "NSMutableString", "NSMutableAttributedString", "NSMutableIndexSet", "NSCountedSet",
    "NSMapTable", "NSHashTable", "NSPointerArray", "Progress",
]
private let locks: [Substring] = ["pthread_mutex_t", "pthread_rwlock_t", "pthread_cond_t", "sem_t"]
