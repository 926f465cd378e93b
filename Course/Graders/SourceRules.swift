/// What the sources of an answer may not use.
///
/// An answer is judged by what it does in every interleaving. An answer that detects the grader and
/// behaves differently there would escape that, so names that help to detect it are refused. A list
/// of names stops accidents and simple cheating, and no attacker: see `Exercises/TEACHING.md`.
enum SourceRules {
    struct Forbidden: Sendable {
        /// A name, wherever it occurs, or several words in sequence, such as `# fileID`.
        let words: [String]
        let why: String
        /// Whether an answer may use this name if it declares it anywhere. All other names may be
        /// used only where the declaration certainly hides the system's: see ``OwnNames``.
        var mayBeOwn = false
        /// Whether it is a function of Stage 3, and an answer may declare this name itself.
        var isFinished = false
        /// Whether it is a word of the language, and a name if it is in backticks.
        var isKeyword = false

        init(_ text: String, _ why: String) {
            words = text.split(separator: " ").map(String.init)
            self.why = why
        }

        func with(_ property: WritableKeyPath<Forbidden, Bool>) -> Forbidden {
            var copy = self
            copy[keyPath: property] = true
            return copy
        }
    }

    private static let imports: Set<String> = [
        "Dispatch", "Foundation", "PromiseOperators", "Stage3ThreadSafe", "Synchronization",
    ]

    private static let asksWhoIsWatching =
        "an answer must be correct wherever it runs, and does not need to find out where that is"
    private static let reachesOut =
        "an answer needs nothing outside its own objects"

    private static let runsTooEarly =
        "an answer may not run code when it is loaded, or replace other code"

    /// For detecting the grader. These names are so common that an answer may declare them itself.
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
    /// For ending the process, and for signals and files. Using one of these would harm the answer
    /// only.
    private static let reaching = [
        "exit", "_exit", "_Exit", "quick_exit", "atexit", "abort", "kill", "raise", "signal",
        "open",
        "write", "pwrite", "dup2", "socket",
        // The system's own has variadic parameters, so Swift does not import it.
        "clone",
    ]
    private static let reachingInAnyCase = [
        "dlsym", "dlopen", "fork", "vfork", "system", "popen", "posix_spawn", "posix_spawnp",
        "execl",
        "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve", "setsid", "setpgid",
        "daemon", "forkpty", "login_tty", "wordexp", "ptrace", "prctl", "syscall",
        "setrlimit", "prlimit", "sigaction",
        "process_vm_readv", "process_vm_writev", "mprotect", "Process", "FileManager", "FileHandle",
        "fopen", "fdopen", "freopen", "openat", "contentsOfFile", "String ( contentsOf",
        "Data ( contentsOf", "NSData", "InputStream", "OutputStream", "setenv", "putenv",
        "_silgen_name", "_cdecl", "_dynamicReplacement", "_extern", "unsafeBitCast", "URLSession",
        "testable", "_spi",
    ]
    /// Attributes that run code when a library is loaded, or replace other code.
    private static let early = [
        "@ section", "@ _section", "@ used", "@ _used", "@ c", "@ _alwaysEmit",
    ]

    static let forbidden: [Forbidden] =
        asking.map { Forbidden($0, asksWhoIsWatching).with(\.mayBeOwn) }
        + askingInAnyCase.map { Forbidden($0, asksWhoIsWatching) }
        + reaching.map { Forbidden($0, reachesOut).with(\.mayBeOwn) }
        + reachingInAnyCase.map { Forbidden($0, reachesOut) }
        + early.map { Forbidden($0, runsTooEarly) }

    /// For exercises that receive a clock.
    static let clockOfTheTests = [Forbidden("ManualClock", asksWhoIsWatching)]

    /// Operators of Stage 3, for exercises that ask you to write them.
    static func finished(_ names: String...) -> [Forbidden] {
        names.map {
            Forbidden(
                $0,
                "Stage 3 has a finished operator of this name, and the exercise asks you to "
                    + "write it"
            ).with(\.isFinished)
        }
    }

    /// For exercises in which a promise is built from scratch.
    static let finishedThing = ["PromiseOperators", "Stage3ThreadSafe"].map {
        Forbidden($0, "the exercise asks you to write the promise yourself")
    }

    /// For exercises whose handlers run inside the call that settles or observes.
    static let sentAway: [Forbidden] =
        ["async", "asyncAfter", "asyncAndWait", "await", "Task"].map {
            Forbidden(
                $0,
                "handlers have to run inside the call that settles or observes, and "
                    + "dispatched work runs later (a queue can run it at once, with sync)"
            ).with(\.isKeyword)
        } + [
            Forbidden(
                "actor",
                "code outside an actor reaches it with await only, so a handler could not "
                    + "run before the call returns (a lock, an atomic or a queue can be used from "
                    + "any code)"
            ).with(\.isKeyword)
        ]

    /// The first violation, as a sentence with its line; `nil` if there is none.
    static func objection(to source: SourceText, besides others: [Forbidden]) -> String? {
        let words = source.words
        for (index, word) in words.enumerated() where word.text == "import" && !word.isQuoted {
            // `import struct Foundation.Date` has a keyword before the module.
            let named = words.dropFirst(index + 1).prefix(2).map(\.text)
            guard imports.isDisjoint(with: named) else { continue }
            return "line \(word.line) imports \(named.first ?? "nothing"): an answer may import "
                + imports.sorted().joined(separator: ", ") + " and nothing else"
        }
        let own = declared(in: words)
        let hiding = OwnNames(in: words)
        let places = Dictionary(grouping: words.indices) { words[$0].text }
        let found = (others + forbidden).compactMap { rule in
            places[rule.words[0], default: []].first {
                stands(rule.words, at: $0, in: words)
                    && !(rule.mayBeOwn && isOwn($0, in: words, declared: own))
                    && !(rule.isFinished && isNoOperator($0, in: words, declared: own))
                    && !(rule.isKeyword && words[$0].isQuoted && own.contains(words[$0].text))
                    && !(rule.words.count == 1 && hiding.contains($0))
                    && !(!rule.isFinished && !rule.isKeyword && isMethod($0, in: words))
                    && !isModifier($0, in: words)
            }
            .map { (line: words[$0].line, rule: rule) }
        }
        guard let first = found.min(by: { $0.line < $1.line }) else { return nil }
        return "line \(first.line) uses '\(first.rule.words.joined())': \(first.rule.why)"
    }

    /// Where the source keeps values behind a pointer; `nil` if it does not. The lab does not see
    /// every access to them, so such an answer cannot pass. One that fails has failed.
    ///
    /// Locks of the system need an address that stays the same, and the lab sees their calls.
    static func blindSpot(in source: SourceText) -> String? {
        let words = source.words
        let place = words.indices.first { index in
            let name = words[index].text
            guard pointers.contains(name) || name.hasPrefix("withUnsafeMutable") else {
                return stands(["unowned", "(", "unsafe"], at: index, in: words)
            }
            return !locks.contains { stands([name, "<", $0], at: index, in: words) }
        }
        return place.map {
            "line \(words[$0].line) uses '\(words[$0].text)': the lab does not see every access to "
                + "what is behind it, so it cannot say that the answer is right"
        }
    }

    /// The pointers through which a source can write.
    private static let pointers: Set = [
        "UnsafeMutablePointer", "UnsafeMutableRawPointer", "UnsafeMutableBufferPointer",
        "UnsafeMutableRawBufferPointer", "ManagedBuffer", "ManagedBufferPointer", "malloc",
        "calloc",
    ]
    private static let locks = ["pthread_mutex_t", "pthread_rwlock_t", "pthread_cond_t", "sem_t"]

    private static func stands(
        _ wanted: [String], at index: Int, in words: [SourceText.Word]
    ) -> Bool {
        index + wanted.count <= words.count
            && zip(wanted, words[index...]).allSatisfy { $0 == $1.text }
    }

    /// The functions, parameters, variables, cases and types that the source declares.
    private static func declared(in words: [SourceText.Word]) -> Set<String> {
        let text = { words.indices.contains($0) ? words[$0].text : "" }
        var names: Set<String> = []
        for index in words.indices {
            switch text(index) {
            case "func", "struct", "class", "enum", "typealias": names.insert(text(index + 1))
            case "var", "let", "case", "for": names.formUnion(bound(after: index, in: words))
            // `{ a, b in`
            case "in":
                let before = words[..<index].reversed().prefix { isName($0.text) || $0.text == "," }
                if text(index - before.count - 1) == "{" { names.formUnion(before.map(\.text)) }
            case ":":
                let before = text(index - 2)
                if ["(", ","].contains(before) || isName(before) { names.insert(text(index - 1)) }
            default: break
            }
        }
        return names
    }

    /// All names of one declaration: `var a = f(1), b = 2`, `let (a, b) = pair` or `case a, b`.
    private static func bound(after keyword: Int, in words: [SourceText.Word]) -> Set<String> {
        var names: Set<String> = []
        var depth = 0
        var (isPattern, hasValue) = (true, false)
        for index in words.indices.dropFirst(keyword + 1) {
            let text = words[index].text
            let next = index + 1 < words.count ? words[index + 1].text : ""
            if "([{".contains(text) { depth += 1 }
            if ")]}".contains(text) { depth -= 1 }
            let isCase = words[keyword].text == "case"
            if depth < 0 || ends.contains(text) || isCase && depth == 0 && text == ":" { break }
            if depth == 0, text == "=" { hasValue = true }
            if depth == 0, text == "," || text == "=" {
                isPattern = text == ","
            } else if isPattern, isName(text) {
                let isFirst = index == keyword + 1
                if isFirst || depth > 0 || ["=", ":"].contains(next) || isCase && !hasValue {
                    names.insert(text)
                }
                if depth == 0, words[index - 1].text != "." { isPattern = false }
            }
        }
        return names
    }

    private static let ends: Set = [
        "func", "var", "let", "case", "for", "struct", "class", "enum", "typealias", "in", ";",
    ]

    private static func isName(_ text: String) -> Bool {
        text.first.map { $0.isLetter || $0 == "_" } ?? false
    }

    /// Whether a name belongs to the answer: the source declares it, or it is a member of something
    /// other than a module.
    private static func isOwn(
        _ index: Int, in words: [SourceText.Word], declared: Set<String>
    ) -> Bool {
        let isMember = index > 0 && words[index - 1].text == "."
        if isMember { return index < 2 || !isModule(words[index - 2].text) }
        return declared.contains(words[index].text)
    }

    /// Whether it is a variable, a label or a function of the answer. Stage 3's functions are
    /// members of the promise, so a call of a member may be of one of them, and so may a call
    /// without a dot in an extension.
    private static func isNoOperator(
        _ index: Int, in words: [SourceText.Word], declared: Set<String>
    ) -> Bool {
        guard declared.contains(words[index].text) else { return false }
        let next = index + 1 < words.count ? words[index + 1].text : nil
        let before = words[..<index].suffix(2).map(\.text)
        let isMember = before.last == "."
        let isCall = next == "(" || next == "<" || isMember && next == "{"
        let isOfItself = isMember && ["self", "Self"].contains(before[0])
        return !isCall || before.last == "func"
            || !extendsPromise(words) && (!isMember || isOfItself)
    }

    /// Whether a method is declared, or called as in `self.system()`. It is not a function of C. In
    /// an extension it may be one of Stage 3 or Dispatch.
    private static func isMethod(_ index: Int, in words: [SourceText.Word]) -> Bool {
        let before = words[..<index].suffix(2).map(\.text)
        return before.last == "func" || before == ["self", "."] || before == ["Self", "."]
    }

    private static func extendsPromise(_ words: [SourceText.Word]) -> Bool {
        let pairs = zip(words.map(\.text), words.dropFirst().map(\.text))
        let aliases = pairs.filter { $0.0 == "typealias" }.map(\.1)
        let promise = Set(aliases + ["AWPromise", "Stage3ThreadSafe"])
        return pairs.contains { $0.0 == "extension" && promise.contains($0.1) }
    }

    /// Whether it is the modifier in `open class`. The next word has to be on the same line,
    /// because a statement may end with the name of the function: `let function = open`.
    private static func isModifier(_ index: Int, in words: [SourceText.Word]) -> Bool {
        guard words[index].text == "open", index + 1 < words.count else { return false }
        let next = words[index + 1]
        return modified.contains(next.text) && next.line == words[index].line
    }

    private static let modified: Set = [
        "class", "func", "var", "subscript", "override", "internal", "private", "fileprivate",
        "lazy", "weak", "dynamic", "nonisolated",
    ]

    private static let modules = imports.union([
        "Swift", "Glibc", "Darwin", "CoreFoundation", "_Concurrency", "FoundationEssentials",
    ])

    static func isModule(_ name: String?) -> Bool { name.map(modules.contains) ?? false }
}
