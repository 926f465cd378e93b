import Foundation

/// What the debug information says of an address.
struct Symbol {
    /// Of the function.
    let name: String
    /// How far behind the beginning of the function the address is.
    let offset: Int
    let location: (path: String, line: Int, column: Int)?

    /// Whether the runtime can look up addresses. Without that the lab could not tell accesses in
    /// the source from those that the compiler has added.
    static var canBeFound: Bool {
        #if canImport(Runtime)
            if #available(macOS 26.0, *) { return true }
        #endif
        return false
    }
}

#if canImport(Runtime)
    import Runtime

    /// Looks up addresses with the runtime's own backtraces, which macOS has from 26 on.
    @available(macOS 26.0, *)
    enum Symbolizer {
        /// The program and its libraries, looked up once. To do so the runtime reads whatever is
        /// mapped into memory, and crashes if another thread takes some of it away at that moment:
        /// files that are read, and the symbols that are looked up here, come and go.
        private static let images = ImageMap.capture()

        static func symbols(at addresses: [UInt]) -> [Symbol?] {
            let symbolicated = backtrace(of: addresses)?.symbolicated(
                with: images, options: [.showSourceLocations, .useSymbolCache])
            return symbolicated?.frames.map { $0.symbol.map(Symbol.init) } ?? []
        }

        #if arch(x86_64)
            private static let architecture = "x86_64"
        #else
            private static let architecture = "arm64"
        #endif

        /// A backtrace made of addresses of our choice. `Backtrace` can be captured or decoded, and
        /// only decoding takes addresses: a header byte for 64-bit words, then each address behind
        /// an instruction byte that says "an absolute program counter of eight bytes follows", then
        /// a zero.
        private static func backtrace(of addresses: [UInt]) -> Backtrace? {
            var bytes: [UInt8] = [0x02]
            for address in addresses {
                bytes.append(0x1F)
                bytes += withUnsafeBytes(of: UInt64(address).bigEndian, Array.init)
            }
            bytes.append(0)
            let json: [String: String] = [
                "architecture": architecture, "backtrace": Data(bytes).base64EncodedString(),
            ]
            guard let data = try? JSONEncoder().encode(json) else { return nil }
            return try? JSONDecoder().decode(Backtrace.self, from: data)
        }
    }

    @available(macOS 26.0, *)
    extension Symbol {
        fileprivate init(_ symbol: SymbolicatedBacktrace.Symbol) {
            name = symbol.name
            offset = symbol.offset
            location = symbol.sourceLocation.map { ($0.path, $0.line, $0.column) }
        }
    }
#endif
