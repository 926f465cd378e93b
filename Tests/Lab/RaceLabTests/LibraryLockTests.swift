#if os(Linux)
    import Foundation
    import Observation
    import RaceLab
    import RaceLabTesting
    import Testing

    @Observable final class Observed: @unchecked Sendable {
        var value = 0
    }

    /// Objects of libraries that guard themselves with locks of their own.
    @Suite("Objects with locks of their own", .needsTheLab)
    struct LibraryLockTests {
        private static let name = Notification.Name("changed")

        /// What a thread has registered, or has learned.
        private final class Kept: @unchecked Sendable {
            var observer: (any NSObjectProtocol)?
            var value = 0
        }

        /// The encoder of Swift 6.2 reads how to format without the lock under which that is changed.
        #if compiler(>=6.3)
            private static let sizes: Set<String> = ["3", "7"]
        #else
            private static let sizes: Set<String> = ["3"]
        #endif

        private static let programs = [
            KnownProgram(
                "an observer of a property is registered after the property was read",
                outcomes: ["read 0", "read 0, changed", "read 1"], everyOrder: true
            ) { scenario in
                let (model, lock) = (Observed(), NSLock())
                let seen = Scenario.Log<String>()
                scenario.thread("observer") {
                    withObservationTracking {
                        let value = lock.withLock { model.value }
                        seen.append("read \(value)")
                    } onChange: {
                        seen.append("changed")
                    }
                }
                scenario.thread("writer") { lock.withLock { model.value = 1 } }
                scenario.outcome { seen.entries.joined(separator: ", ") }
            },
            KnownProgram(
                "a cache: both threads miss", outcomes: ["hit, miss", "miss, hit", "miss, miss"],
                everyOrder: true
            ) { scenario in
                let cache = NSCache<NSString, NSNumber>()
                let seen = Scenario.Log<String>()
                scenario.threads("first", "second") {
                    let isThere = cache.object(forKey: "key") != nil
                    if !isThere { cache.setObject(1, forKey: "key") }
                    seen.append(isThere ? "hit" : "miss")
                }
                scenario.outcome { seen.entries.joined(separator: ", ") }
            },
            KnownProgram(
                "an encoder is changed before or after it encodes", outcomes: sizes,
                everyOrder: true
            ) { scenario in
                let (encoder, size) = (JSONEncoder(), Kept())
                scenario.thread("encodes") { size.value = (try? encoder.encode([1]).count) ?? 0 }
                scenario.thread("changes") { encoder.outputFormatting = .prettyPrinted }
                scenario.outcome { "\(size.value)" }
            },
            KnownProgram(
                "an observer is added before or after a notification is posted, and sees what came before",
                outcomes: ["added", "told 5, added", "added, told 5"], everyOrder: true
            ) { scenario in
                let (center, kept) = (NotificationCenter(), Kept())
                let seen = Scenario.Log<String>()
                scenario.thread("adds") {
                    kept.value = 5
                    kept.observer = center.addObserver(forName: name, object: nil, queue: nil) {
                        _ in
                        seen.append("told \(kept.value)")
                    }
                    seen.append("added")
                }
                scenario.thread("posts") { center.post(name: name, object: nil) }
                scenario.outcome { seen.entries.joined(separator: ", ") }
            },
            KnownProgram(
                "an observer that is removed may be called once more",
                outcomes: ["told, removed", "removed, told", "removed"], everyOrder: true
            ) { scenario in
                let center = NotificationCenter()
                let seen = Scenario.Log<String>()
                nonisolated(unsafe) let observer = center.addObserver(
                    forName: name, object: nil, queue: nil
                ) { _ in seen.append("told") }
                scenario.thread("removes") {
                    center.removeObserver(observer)
                    seen.append("removed")
                }
                scenario.thread("posts") { center.post(Notification(name: name)) }
                scenario.outcome { seen.entries.joined(separator: ", ") }
            },
            KnownProgram(
                "what a thread has written is there for who finds its value at a queue",
                outcomes: ["nil", "5"], everyOrder: true
            ) { scenario in
                let (queue, key) = (DispatchQueue(label: "queue"), DispatchSpecificKey<Kept>())
                let seen = Scenario.Log<Int?>()
                scenario.thread("sets") {
                    let kept = Kept()
                    kept.value = 5
                    queue.setSpecific(key: key, value: kept)
                }
                scenario.thread("gets") { seen.append(queue.getSpecific(key: key)?.value) }
                scenario.outcome { seen.entries[0].map { "\($0)" } ?? "nil" }
            },
            KnownProgram(
                "an encoder for each thread", outcomes: ["3"], explored: 1...2, everyOrder: true
            ) { scenario in
                let sizes = Scenario.Log<Int>()
                scenario.threads("first", "second") {
                    sizes.append((try? JSONEncoder().encode([1]).count) ?? 0)
                }
                scenario.outcome { Set(sizes.entries).map { "\($0)" }.joined(separator: ", ") }
            },
        ]

        @Test(arguments: programs)
        func `their calls are steps, in the lines of the code under test`(_ program: KnownProgram) {
            program.check()
        }
    }
#endif
