import RaceLab
import Synchronization

// MARK: - Store buffering

final class StoreBuffering: Sendable {
    let x = Atomic(0)
    let y = Atomic(0)

    func left() -> Int {
        x.store(1, ordering: .relaxed)
        return y.load(ordering: .relaxed)
    }

    func right() -> Int {
        y.store(1, ordering: .relaxed)
        return x.load(ordering: .relaxed)
    }
}

extension Classic {
    static let buffers = [storeBuffering]

    static let storeBuffering = Classic("store buffering", .survives) { scenario in
        let memory = StoreBuffering()
        var (left, right) = (0, 0)
        scenario.thread("left") { left = memory.left() }
        scenario.thread("right") { right = memory.right() }
        scenario.outcome { "\(left), \(right)" }
        scenario.expect("0, 1", .acceptable, "left was done before right began to write")
        scenario.expect("1, 0", .acceptable, "right was done before left began to write")
        scenario.expect("1, 1", .acceptable, "both wrote before either read")
        scenario.expect(
            "0, 0", .interesting, "each write was still in a buffer when the other thread read")
    }
}

// MARK: - Hazard pointer

/// One reader uses the current page, one writer replaces and frees it. The reader first announces
/// which page it is going to use.
class HazardPointer {
    let current = Atomic(0)
    let hazard = Atomic(-1)
    let pages = [Counter(), Counter()]

    func announce(_ page: Int) { hazard.store(page, ordering: .sequentiallyConsistent) }
    func currentPage() -> Int { current.load(ordering: .sequentiallyConsistent) }
    func replace() { current.store(1, ordering: .sequentiallyConsistent) }
    func announced() -> Int { hazard.load(ordering: .sequentiallyConsistent) }

    final func read() -> Int? {
        let page = currentPage()
        announce(page)
        guard currentPage() == page else { return nil }
        let seen = pages[page].value
        hazard.store(-1, ordering: .releasing)
        return seen
    }

    final func free() {
        replace()
        if announced() != 0 { pages[0].value = -1 }
    }
}

final class HazardPointerWithoutFences: HazardPointer {
    override func announce(_ page: Int) { hazard.store(page, ordering: .releasing) }
    override func currentPage() -> Int { current.load(ordering: .acquiring) }
    override func replace() { current.store(1, ordering: .releasing) }
    override func announced() -> Int { hazard.load(ordering: .acquiring) }
}

extension Classic {
    static let hazardPointers = [
        Classic("hazard pointer", .survives) { freeing($0, HazardPointer()) },
        Classic("hazard pointer without fences", .fails(.forbiddenOutcome)) {
            freeing($0, HazardPointerWithoutFences())
        },
    ]

    private static func freeing(_ scenario: Scenario, _ memory: HazardPointer) {
        var seen: Int?
        scenario.thread("reader") { seen = memory.read() }
        scenario.thread("writer") { memory.free() }
        scenario.outcome { seen.map(String.init) ?? "nothing" }
        scenario.expect("0", .acceptable, "the page was in use")
        scenario.expect("nothing", .acceptable, "the page was about to be replaced")
        scenario.expect("-1", .forbidden, "the page was read after it was freed")
    }
}

// MARK: - Message passing

final class Letter {
    var text = "an empty page"
    var isPosted = false

    func post() {
        text = "hello"
        isPosted = true
    }

    func collect() -> String {
        isPosted ? text : "nothing"
    }
}

final class AtomicLetter {
    var text = "an empty page"
    let isPosted = Atomic(false)

    func post() {
        text = "hello"
        isPosted.store(true, ordering: .releasing)
    }

    func collect() -> String {
        isPosted.load(ordering: .acquiring) ? text : "nothing"
    }
}

final class RelaxedLetter {
    var text = "an empty page"
    let isPosted = Atomic(false)

    func post() {
        text = "hello"
        isPosted.store(true, ordering: .relaxed)
    }

    func collect() -> String {
        isPosted.load(ordering: .relaxed) ? text : "nothing"
    }
}

extension Classic {
    static let messages = [message, atomicMessage, relaxedMessage]

    static let message = Classic("message passing", .fails(.dataRace)) { scenario in
        let letter = Letter()
        var collected = ""
        scenario.thread("writer") { letter.post() }
        scenario.thread("reader") { collected = letter.collect() }
        scenario.state("text") { letter.text }
        scenario.outcome { collected }
        expectLetter(scenario)
    }

    static let atomicMessage = Classic("message passing, atomic", .survives) { scenario in
        let letter = AtomicLetter()
        var collected = ""
        scenario.thread("writer") { letter.post() }
        scenario.thread("reader") { collected = letter.collect() }
        scenario.outcome { collected }
        expectLetter(scenario)
    }

    static let relaxedMessage = Classic("message passing, relaxed", .fails(.dataRace)) { scenario in
        let letter = RelaxedLetter()
        var collected = ""
        scenario.thread("writer") { letter.post() }
        scenario.thread("reader") { collected = letter.collect() }
        scenario.outcome { collected }
        expectLetter(scenario)
    }

    private static func expectLetter(_ scenario: Scenario) {
        scenario.expect("nothing", .acceptable, "the reader came too early")
        scenario.expect("hello", .acceptable, "the reader found the letter")
        scenario.expect("an empty page", .forbidden, "it was posted before it was written")
    }
}

// MARK: - Double-checked initialization

final class Settings: Sendable {
    let answer = 42
}

final class DoubleChecked {
    private var made: Settings?
    private let lock = Mutex(())

    var settings: Settings {
        if let made { return made }
        return lock.withLock { _ in
            if let made { return made }
            let fresh = Settings()
            made = fresh
            return fresh
        }
    }
}

final class AtomicallyDoubleChecked {
    private var made: Settings?
    private let isMade = Atomic(false)
    private let lock = Mutex(())

    var settings: Settings {
        if isMade.load(ordering: .acquiring) { return made! }
        return lock.withLock { _ in
            if let made { return made }
            let fresh = Settings()
            made = fresh
            isMade.store(true, ordering: .releasing)
            return fresh
        }
    }
}

extension Classic {
    static let lazies = [doubleChecked, atomicallyDoubleChecked]

    static let doubleChecked = Classic(
        "double-checked initialization", .fails(.dataRace)
    ) { scenario in
        let owner = DoubleChecked()
        var (first, second): (Settings?, Settings?)
        scenario.thread("first") { first = owner.settings }
        scenario.thread("second") { second = owner.settings }
        scenario.check { try Scenario.require(first === second, "it was made twice") }
    }

    static let atomicallyDoubleChecked = Classic(
        "double-checked initialization, atomic", .survives
    ) { scenario in
        let owner = AtomicallyDoubleChecked()
        var (first, second): (Settings?, Settings?)
        scenario.thread("first") { first = owner.settings }
        scenario.thread("second") { second = owner.settings }
        scenario.check { try Scenario.require(first === second, "it was made twice") }
    }
}

// MARK: - Countdown

/// Several threads count down; the last one adds up the results of all.
class Countdown {
    let remaining = Atomic(2)
    let found = [Counter(), Counter()]

    func isLast() -> Bool {
        remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    final func finish(_ me: Int) -> Int? {
        found[me].value = 21
        return isLast() ? found[0].value + found[1].value : nil
    }
}

final class RelaxedCountdown: Countdown {
    override func isLast() -> Bool {
        remaining.wrappingSubtract(1, ordering: .relaxed).newValue == 0
    }
}

extension Classic {
    static let countdowns = [
        Classic("countdown", .survives) { countingDown($0, Countdown()) },
        Classic("countdown, relaxed", .fails(.dataRace)) { countingDown($0, RelaxedCountdown()) },
    ]

    private static func countingDown(_ scenario: Scenario, _ countdown: Countdown) {
        var (first, second): (Int?, Int?)
        scenario.thread("first") { first = countdown.finish(0) }
        scenario.thread("second") { second = countdown.finish(1) }
        scenario.outcome {
            [first, second].compactMap(\.self).map(String.init).joined(separator: ", ")
        }
        scenario.expect("42", .acceptable, "one thread was the last, and found all")
    }
}
