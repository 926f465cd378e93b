import CRaceLab
import Foundation
import Runtime
import Synchronization

/// A place in the source.
public struct Site: Hashable, Sendable {
    public let path: String
    public let line: Int
    public let function: String

    /// The name of the file, without its folders.
    public var file: String { path.split(separator: "/").last.map(String.init) ?? path }
}

/// Finds the places in the source to which addresses in the program belong. It is asked only when
/// something is shown, never while exploring.
enum Symbols {
    private static let known = Mutex<[UInt: Site]>([:])

    /// The site of each return address; `nil` where the program has no debug information.
    static func sites(of addresses: some Sequence<UInt>) -> [UInt: Site] {
        let wanted = Set(addresses)
        let missing = known.withLock { known in wanted.filter { known[$0] == nil } }
        let found = missing.isEmpty ? [:] : lookUp(Array(missing))
        return known.withLock { known in
            known.merge(found) { $1 }
            return known.filter { wanted.contains($0.key) }
        }
    }

    /// Whether the code at an address has a name, but not a single line of source: then the
    /// compiler has added it.
    static func isCompilersOwn(_ address: UInt) -> Bool {
        sites(of: [address]).isEmpty && symbols(at: [address &- 1]).contains { $0 != nil }
    }

    private static func lookUp(_ addresses: [UInt]) -> [UInt: Site] {
        var sites: [UInt: Site] = [:]
        for (address, symbol) in zip(addresses, symbols(at: addresses.map { $0 &- 1 })) {
            sites[address] = symbol.flatMap { site(of: $0) ?? nearestSite(to: address, in: $0) }
        }
        return sites
    }

    /// The compiler gives some calls the line 0, among them those of `x += 1`. The instructions
    /// around such a call prepare it or use what it gives, and have the line of the statement.
    private static func nearestSite(
        to address: UInt, in function: SymbolicatedBacktrace.Symbol
    ) -> Site? {
        let probes = stride(from: UInt(4), through: 200, by: 4).flatMap {
            [address &+ $0, address &- $0]
        }
        return symbols(at: probes).lazy.compactMap { $0 }
            .filter { $0.name == function.name }.compactMap(site).first
    }

    private static func site(of symbol: SymbolicatedBacktrace.Symbol) -> Site? {
        guard let location = symbol.sourceLocation, location.line > 0 else { return nil }
        return Site(path: location.path, line: location.line, function: symbol.name)
    }

    private static func symbols(at addresses: [UInt]) -> [SymbolicatedBacktrace.Symbol?] {
        guard
            let symbols = backtrace(of: addresses)?.symbolicated(
                with: ImageMap.capture(), options: [.showSourceLocations, .useSymbolCache])
        else { return [] }
        let found = symbols.frames.map(\.symbol)
        return found.count == addresses.count ? found : []
    }

    /// A backtrace made of addresses of our choice. `Backtrace` can be captured or decoded, and
    /// only decoding takes addresses: a header byte for 64-bit words, then each address behind an
    /// instruction byte that says "an absolute program counter of eight bytes follows", then a zero.
    private static func backtrace(of addresses: [UInt]) -> Backtrace? {
        var bytes: [UInt8] = [0x02]
        for address in addresses {
            bytes.append(0x1F)
            bytes += withUnsafeBytes(of: UInt64(address).bigEndian, Array.init)
        }
        bytes.append(0)
        guard let sample = try? Backtrace.capture(limit: 1) else { return nil }
        let json: [String: String] = [
            "architecture": sample.architecture, "backtrace": Data(bytes).base64EncodedString(),
        ]
        guard let data = try? JSONEncoder().encode(json) else { return nil }
        return try? JSONDecoder().decode(Backtrace.self, from: data)
    }
}

/// The lines of the source files, as far as they can be read.
enum SourceText {
    private static let files = Mutex<[String: [String]]>([:])

    static func line(_ line: Int, of path: String) -> String? {
        let lines = files.withLock { files in
            if let lines = files[path] { return lines }
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map(String.init)
            files[path] = lines
            return lines
        }
        guard line >= 1, line <= lines.count else { return nil }
        return lines[line - 1].trimmingCharacters(in: .whitespaces)
    }
}
