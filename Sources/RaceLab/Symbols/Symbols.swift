import CRaceLab
import Foundation
import Synchronization

extension Exploration {
    /// A place in the source.
    public struct Site: Hashable, Codable, Sendable {
        /// The path of the file, as the compiler was given it.
        public let path: String
        /// The line, counted from 1.
        public let line: Int
        /// The column in which the access stands; 0 if the compiler does not say.
        public let column: Int
        /// The symbol of the function; empty if it is not known.
        public let function: String

        /// The name of the file, without its folders; `Model.count@ObservationTracked` for what
        /// this macro adds to that property, which is in a file of its own with a long name.
        public var file: String {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return Site.nameOfExpansion(name) ?? name
        }

        /// The name says where the macro is used and what it is called: a number before each word
        /// is its length.
        private static func nameOfExpansion(_ file: String) -> String? {
            let beginning = "@__swiftmacro_"
            guard file.hasPrefix(beginning) else { return nil }
            var rest = file.dropFirst(beginning.count)
            var words: [Substring] = []
            while !rest.isEmpty {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                rest = rest.dropFirst(max(1, digits.count))
                guard let length = Int(digits), length > 0, length <= rest.count else { continue }
                words.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            guard words.count > 2 else { return nil }
            // The first is the module.
            return words[1..<(words.count - 1)].joined(separator: ".") + "@"
                + words[words.count - 1]
        }
    }
}

/// Finds the places in the source to which addresses in the program belong. It is asked only when
/// something is shown, never while exploring.
enum Symbols {
    /// `nil` for an address that has been looked up in vain.
    private static let known = ForkSafeLock<[UInt: Exploration.Site?]>([:])

    /// The site of each return address; `nil` where the program has no debug information.
    ///
    /// - Parameter modifying: those of them at which something is modified.
    static func sites(
        of addresses: some Sequence<UInt>, modifying: Set<UInt> = []
    ) -> [UInt: Exploration.Site] {
        let wanted = Set(addresses)
        let missing = known.withLock { known in wanted.filter { known[$0] == nil } }
        let found = missing.isEmpty ? [:] : lookUp(Array(missing), modifying)
        return known.withLock { known in
            known.merge(found) { $1 }
            return known.filter { wanted.contains($0.key) }.compactMapValues { $0 }
        }
    }

    /// Whether the code at an address has a name, but not a single line of source: then the
    /// compiler has added it.
    static func isCompilersOwn(_ address: UInt) -> Bool {
        guard let symbol = symbols(at: [address &- 1]).first ?? nil else { return false }
        return symbol.path.contains("<compiler-generated>") || sites(of: [address]).isEmpty
    }

    /// While the process is copied: no thread is in the middle of something here, and nothing is
    /// left to be made for the first time.
    static func hold() {
        _ = sites(of: [1])
        oneAtATime.hold()
        known.hold()
        SourceText.files.hold()
        Objects.hold()
    }

    static func release() {
        Objects.release()
        SourceText.files.release()
        known.release()
        oneAtATime.release()
    }

    private static func lookUp(_ addresses: [UInt], _ modifying: Set<UInt>) -> [UInt: Exploration
        .Site?]
    {
        var sites: [UInt: Exploration.Site?] = [:]
        for (address, symbol) in zip(addresses, symbols(at: addresses.map { $0 &- 1 })) {
            let found = symbol.flatMap {
                site(of: $0)
                    ?? nearestSite(to: address, modifies: modifying.contains(address), in: $0)
            }
            sites.updateValue(found, forKey: address)
        }
        return sites
    }

    /// The compiler gives some accesses the line 0. The instructions around prepare or use them,
    /// and have a line: for `x += 1` that of the same statement. But of `let seen = x` nothing at
    /// all may have a line, and what comes next is another statement. Then the lines between those
    /// of the instructions before and after are where it must be; only not if it modifies
    /// something, for such a declaration reads. Where it reads by key path, the instructions before
    /// have taken hold of that, and have its line.
    private static func nearestSite(
        to address: UInt, modifies: Bool, in function: Symbol
    ) -> Exploration.Site? {
        let distances = Array(stride(from: UInt(4), through: 480, by: 4))
        let after = firstSite(in: function, distances.map { address &+ $0 })
        // What is behind the beginning of a function may be far from it, and nothing between has a
        // line, where the compiler clears many local variables first.
        let before = firstSite(in: function, distances.map { address &- $0 } + [function.start])
        guard let after, let before else { return (after ?? before)?.site }
        if modifies { return after.site }
        if before.index < after.index, readsByKeyPath(before.site) { return before.site }
        let declarations =
            before.site.path == after.site.path && before.site.line < after.site.line
            ? (before.site.line..<after.site.line).dropFirst()
                .filter { isDeclaration(SourceText.line($0, of: after.site.path) ?? "") } : []
        guard !declarations.isEmpty else { return after.site }
        // If they are several, they take about the same number of instructions each, and the next
        // statement has some before it has a line.
        let all = before.index + after.index + 1
        let part = before.index * (2 * declarations.count + 1) / (2 * all)
        let gone = before.index < distances.count ? min(part, declarations.count - 1) : 0
        return Exploration.Site(
            path: after.site.path, line: declarations[gone], column: 0,
            function: after.site.function)
    }

    private static func readsByKeyPath(_ site: Exploration.Site) -> Bool {
        let line = SourceText.line(site.line, of: site.path) ?? ""
        return isDeclaration(line) && line.contains("[keyPath: ")
    }

    /// Whether the line declares something, and may read something for it.
    private static func isDeclaration(_ line: String) -> Bool {
        guard line.hasPrefix("let ") || line.hasPrefix("var "),
            let value = line.firstRange(of: " = ").map({ line[$0.upperBound...] })
        else { return false }
        let isNumber = value.allSatisfy { $0.isNumber || "-._".contains($0) }
        let isText = value.hasPrefix("\"") && !value.contains("\\(")
        return !isNumber && !isText && !["true", "false", "nil", "[]", "[:]"].contains(value)
    }

    /// The first of the addresses that has a line in this function, and which one it is.
    private static func firstSite(
        in function: Symbol, _ addresses: [UInt]
    ) -> (index: Int, site: Exploration.Site)? {
        // A few at a time: each takes its time to look up, and one of the first will mostly do.
        for start in stride(from: 0, to: addresses.count, by: 4) {
            let few = Array(addresses[start..<min(start + 4, addresses.count)])
            for (offset, symbol) in symbols(at: few).enumerated() {
                guard let symbol, symbol.start == function.start else { return nil }
                if let site = site(of: symbol) { return (start + offset, site) }
            }
        }
        return nil
    }

    private static func site(of symbol: Symbol) -> Exploration.Site? {
        guard symbol.line > 0 else { return nil }
        return Exploration.Site(
            path: symbol.path, line: symbol.line, column: symbol.column, function: symbol.name)
    }

    private static let oneAtATime = ForkSafeLock(())

    private static func symbols(at addresses: [UInt]) -> [Symbol?] {
        rl_begin_own_work()
        defer { rl_end_own_work() }
        return oneAtATime.withLock { _ in addresses.map { Symbol(at: $0) } }
    }
}

extension Exploration.Site {
    private static let roots = Mutex<[String: String]>([:])

    /// The path of the file within its package: from the folder on in which Package.swift lies.
    /// The name alone if there is no such folder any more.
    public var packagePath: String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let root = Exploration.Site.roots.withLock { roots in
            if let root = roots[folder] { return root }
            let root = Exploration.Site.packageRoot(above: folder) ?? folder
            roots[folder] = root
            return root
        }
        return String(path.dropFirst(root.count + 1))
    }

    private static func packageRoot(above folder: String) -> String? {
        var folder = Substring(folder)
        while !folder.isEmpty {
            if FileReadable.check("\(folder)/Package.swift") { return String(folder) }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = folder[..<slash]
        }
        return nil
    }
}

/// The lines of the source files, as far as they can be read.
enum SourceText {
    fileprivate static let files = ForkSafeLock<[String: [String]]>([:])

    static func line(_ line: Int, of path: String) -> String? {
        untrimmed(line, of: path)?.trimmingCharacters(in: .whitespaces)
    }

    private static func untrimmed(_ line: Int, of path: String) -> String? {
        let lines = files.withLock { files in
            if let lines = files[path] { return lines }
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map(String.init)
            files[path] = lines
            return lines
        }
        guard line >= 1, line <= lines.count else { return nil }
        return lines[line - 1]
    }

    /// How many characters of white space the line begins with.
    static func indentation(_ line: Int, of path: String) -> Int? {
        guard let text = untrimmed(line, of: path) else { return nil }
        return text.prefix { $0.isWhitespace }.count
    }
}
