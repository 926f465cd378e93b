import CRaceLab
import Foundation

extension Exploration {
    /// A place in the source.
    public struct Site: Hashable, Codable, Sendable {
        /// The path of the file, as it was passed to the compiler.
        public let path: String
        /// The line, counted from 1.
        public let line: Int
        /// The column of the access; 0 if the debug information has none.
        public let column: Int
        /// The symbol of the function; empty if it is unknown.
        public let function: String

        /// The name of the file, without its folders. The expansion of a macro is in a file of its
        /// own with a long name, which becomes `Model.count@ObservationTracked`: what this macro
        /// adds to that property.
        public var file: String {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            let start = slash.map(path.utf8.index(after:)) ?? path.startIndex
            let name = String(path[start...])
            return Site.nameOfExpansion(name) ?? name
        }

        /// The name of the file contains where the macro is used and what it is called, as words
        /// that are each preceded by their length.
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
            // The first word is the module.
            let name = words.removeLast()
            return "\(words.dropFirst().joined(separator: "."))@\(name)"
        }
    }
}

/// Finds the places in the source for addresses in the program. Lookups are slow, so results are
/// cached.
enum Symbols {
    /// `nil` for an address whose lookup found nothing.
    private static let known = ForkSafeLock<[UInt: Exploration.Site?]>([:])

    /// The site of each return address; none where the program has no debug information.
    ///
    /// - Parameter modifying: those addresses at which something is modified.
    static func sites(
        of addresses: some Sequence<UInt>, modifying: Set<UInt> = []
    ) -> [UInt: Exploration.Site] {
        let wanted = Set(addresses)
        let missing = known.withLock { known in wanted.filter { known[$0] == nil } }
        let found = missing.isEmpty ? [:] : lookUp(Array(missing), modifying)
        return known.withLock { known in
            known.merge(found) { $1 }
            return wanted.reduce(into: [:]) { $0[$1] = known[$1] ?? nil }
        }
    }

    /// Whether the compiler added the code at an address: then it has a name, but no line of
    /// source.
    static func isCompilersOwn(_ address: UInt) -> Bool {
        guard let symbol = symbols(at: [address &- 1]).first ?? nil else { return false }
        return symbol.path.contains("<compiler-generated>") || sites(of: [address]).isEmpty
    }

    /// Called before a `fork`: initializes everything that is initialized lazily, and takes the
    /// locks that a child needs, so that no other thread holds one of them.
    static func hold() {
        _ = sites(of: [1])
        oneAtATime.hold()
        known.hold()
        SourceText.files.hold()
        Objects.known.hold()
    }

    static func release() {
        Objects.known.release()
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

    /// The probable site of an access to which the compiler gives line 0. The instructions around
    /// it prepare or use the access and have a line: for `x += 1`, that of the same statement. For
    /// `let seen = x`, however, no instruction of the statement may have a line, and the next line
    /// belongs to the next statement. Then the access is in a declaration between the lines found
    /// before and after it, unless it is a modification: such a declaration only reads. For a read
    /// through a key path, the instructions before it, which get the key path, have its line.
    private static func nearestSite(
        to address: UInt, modifies: Bool, in function: Symbol
    ) -> Exploration.Site? {
        let distances = Array(stride(from: UInt(4), through: 480, by: 4))
        let after = firstSite(in: function, distances.map { address &+ $0 })
        // The start of the function is also tried: if the compiler first clears many local
        // variables, no instruction between it and the access may have a line.
        let before = firstSite(in: function, distances.map { address &- $0 } + [function.start])
        guard let after, let before else { return (after ?? before)?.site }
        if modifies { return after.site }
        if before.index < after.index, readsByKeyPath(before.site) { return before.site }
        // `Ya` in a mangled name says that the function is `async`.
        let isAtStart =
            function.name.contains("Ya") && before.address &- function.start < longestPrologue
        let declarations = declarations(from: before.site, to: after.site, isAtStart)
        guard !declarations.isEmpty else { return after.site }
        // Choose among several declarations by distance: each takes about the same number of
        // instructions, and the next statement has some before the first with a line.
        let all = before.index + after.index + 1
        let part = before.index * (2 * declarations.count + 1) / (2 * all)
        let gone = before.index < distances.count ? min(part, declarations.count - 1) : 0
        return Exploration.Site(
            path: after.site.path, line: declarations[gone], column: 0,
            function: after.site.function)
    }

    /// What an `async` function does before its first statement, in bytes.
    private static let longestPrologue: UInt = 32

    /// The lines with declarations between two places. An `async` function, and each of its parts
    /// that begin after an `await`, begins with the line of the first instruction that has one. So
    /// at its start, the declarations right above that line count.
    private static func declarations(
        from before: Exploration.Site, to after: Exploration.Site, _ isAtStart: Bool
    ) -> [Int] {
        guard before.path == after.path else { return [] }
        let text = { SourceText.line($0, of: after.path) ?? "" }
        if before.line < after.line {
            return (before.line..<after.line).dropFirst().filter { isDeclaration(text($0)) }
        }
        guard isAtStart else { return [] }
        let above = (1..<after.line).reversed().prefix {
            let line = text($0)
            return line.isEmpty || line.hasPrefix("//")
                || isDeclaration(line) && !line.contains("await ")
        }
        return above.filter { isDeclaration(text($0)) }.reversed()
    }

    private static func readsByKeyPath(_ site: Exploration.Site) -> Bool {
        let line = SourceText.line(site.line, of: site.path) ?? ""
        return isDeclaration(line) && line.contains("[keyPath: ")
    }

    /// Whether the line is a declaration whose value may be read from memory, unlike a literal.
    private static func isDeclaration(_ line: String) -> Bool {
        guard line.hasPrefix("let ") || line.hasPrefix("var "),
            let value = line.firstRange(of: " = ").map({ line[$0.upperBound...] })
        else { return false }
        let isNumber = value.allSatisfy { $0.isNumber || "-._".contains($0) }
        let isText = value.hasPrefix("\"") && !value.contains("\\(")
        return !isNumber && !isText && !["true", "false", "nil", "[]", "[:]"].contains(value)
    }

    /// The first of the addresses that has a line in this function, and its position in the list.
    private static func firstSite(
        in function: Symbol, _ addresses: [UInt]
    ) -> (index: Int, address: UInt, site: Exploration.Site)? {
        // A few at a time: lookups are slow, and one of the first usually succeeds.
        for start in stride(from: 0, to: addresses.count, by: 4) {
            let few = Array(addresses[start..<min(start + 4, addresses.count)])
            for (offset, symbol) in symbols(at: few).enumerated() {
                guard let symbol, symbol.start == function.start else { return nil }
                if let site = site(of: symbol) { return (start + offset, few[offset], site) }
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
    private static let roots = ForkSafeLock<[String: String]>([:])

    /// The path of the file relative to the folder that contains its Package.swift; only the name
    /// of the file if there is no such folder.
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
            let manifest = "\(folder)/Package.swift"
            if FileManager.default.isReadableFile(atPath: manifest) { return String(folder) }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = folder[..<slash]
        }
        return nil
    }
}

/// The lines of the source files that can be read.
enum SourceText {
    fileprivate static let files = ForkSafeLock<[String: [String]]>([:])

    static func line(_ line: Int, of path: String) -> String? {
        // Called for each step, so without Foundation, which would copy the text first.
        guard let text = untrimmed(line, of: path)?.drop(while: \.isWhitespace) else { return nil }
        return text.lastIndex { !$0.isWhitespace }.map { String(text[...$0]) } ?? ""
    }

    private static func untrimmed(_ line: Int, of path: String) -> String? {
        let lines = files.withLock { files in
            if let lines = files[path] { return lines }
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            // In a file of Windows, the end of a line is one character that consists of two.
            let ends: [Character] = ["\n", "\r\n"]
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: ends.contains)
                .map(String.init)
            files[path] = lines
            return lines
        }
        guard line >= 1, line <= lines.count else { return nil }
        return lines[line - 1]
    }

    /// The number of white-space characters at the beginning of the line.
    static func indentation(_ line: Int, of path: String) -> Int? {
        untrimmed(line, of: path)?.prefix { $0.isWhitespace }.count
    }
}
