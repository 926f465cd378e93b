#if os(Linux)
    import Foundation
    import RaceLab
    import RaceLabTesting
    import Testing

    @Suite("The lab uses one processor while exploring", .needsTheLab)
    struct ProcessorTests {
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
    }
#endif
