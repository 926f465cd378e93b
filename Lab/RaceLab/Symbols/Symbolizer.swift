import CRaceLab
import Foundation

/// The debug information for an address in the program.
struct Symbol {
    /// The function, its mangled name and its first address.
    let name: String
    let start: UInt
    /// 0 if there is none.
    let line: Int
    let column: Int
    let path: String
}

#if os(Linux)
    extension Symbol {
        static let canBeFound = true

        init?(at address: UInt) {
            var found = rl_line()
            guard rl_find_line(address, &found) else { return nil }
            let folder = String(cString: found.folder)
            let file = String(cString: found.file)
            name = String(cString: found.function)
            start = UInt(found.function_start)
            line = Int(found.line)
            column = Int(found.column)
            path = file.hasPrefix("/") || folder.isEmpty ? file : "\(folder)/\(file)"
        }
    }
#else
    import Runtime

    extension Symbol {
        /// Whether the runtime can look up addresses. Without lookups, the lab could not
        /// distinguish accesses in the source from those that the compiler adds.
        static var canBeFound: Bool {
            if #available(macOS 26.0, *) { true } else { false }
        }

        init?(at address: UInt) {
            guard #available(macOS 26.0, *), let symbol = Symbolizer.symbol(at: address) else {
                return nil
            }
            name = symbol.name
            start = address &- UInt(bitPattern: symbol.offset)
            line = symbol.sourceLocation?.line ?? 0
            column = symbol.sourceLocation?.column ?? 0
            path = symbol.sourceLocation?.path ?? ""
        }
    }

    /// Looks up addresses with the runtime's own backtraces.
    @available(macOS 26.0, *)
    private enum Symbolizer {
        /// The program and its libraries, looked up once.
        static let images = ImageMap.capture()

        static func symbol(at address: UInt) -> SymbolicatedBacktrace.Symbol? {
            let symbolicated = backtrace(of: address)?.symbolicated(
                with: images, options: [.showSourceLocations, .useSymbolCache])
            return symbolicated?.frames.map { $0 }.first?.symbol
        }

        #if arch(x86_64)
            private static let architecture = "x86_64"
        #else
            private static let architecture = "arm64"
        #endif

        /// Makes a backtrace of a single address. A `Backtrace` can only be captured or decoded,
        /// and only decoding accepts addresses. The encoding is a header byte for 64-bit words, an
        /// instruction byte that announces an absolute program counter of eight bytes, the address,
        /// and a zero.
        private static func backtrace(of address: UInt) -> Backtrace? {
            var bytes: [UInt8] = [0x02, 0x1F]
            bytes += withUnsafeBytes(of: UInt64(address).bigEndian, Array.init)
            bytes.append(0)
            let json: [String: String] = [
                "architecture": architecture, "backtrace": Data(bytes).base64EncodedString(),
            ]
            guard let data = try? JSONEncoder().encode(json) else { return nil }
            return try? JSONDecoder().decode(Backtrace.self, from: data)
        }
    }
#endif
