#if os(Linux)
    import Foundation
    import RaceLab
    import RaceLabTesting
    import Testing

    @Suite("The lab uses one processor while exploring", .needsTheLab)
    struct ProcessorTests {
        /// The numbers of the processors on which the calling thread may run, such as "0-3".
        private static func allowed() -> String? {
            let status = try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
            return line?.split(separator: "\t").last.map(String.init)
        }

        @Test("all threads of a scenario share it, and the caller is unrestricted afterwards")
        func bound() throws {
            let before = try #require(Self.allowed())
            let seen = Scenario.Log<String?>()
            let exploration = explore { scenario in
                let shared = Shared()
                for name in ["first", "second"] {
                    scenario.thread(name) {
                        shared.value += 1
                        seen.append(Self.allowed())
                    }
                }
            }
            #expect(exploration.explored > 1, "\(exploration.summary)")
            #expect(Set(seen.entries).count == 1)
            #expect(seen.entries.allSatisfy { $0.flatMap { Int($0) } != nil }, "\(seen.entries)")
            #expect(Self.allowed() == before)
        }
    }
#endif
