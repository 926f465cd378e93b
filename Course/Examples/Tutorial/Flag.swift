import RaceLab
import Synchronization

/// Passes a message from one thread to another. The flag orders nothing but itself.
final class RelaxedMailbox {
    private var message = ""
    private let isFull = Atomic(false)

    func put(_ text: String) {
        message = text
        isFull.store(true, ordering: .relaxed)
    }

    func take() -> String? {
        isFull.load(ordering: .relaxed) ? message : nil
    }
}

/// Passes a message from one thread to another. A set flag means that the message is complete.
final class Mailbox {
    private var message = ""
    private let isFull = Atomic(false)

    func put(_ text: String) {
        message = text
        isFull.store(true, ordering: .releasing)
    }

    func take() -> String? {
        isFull.load(ordering: .acquiring) ? message : nil
    }
}

func relaxedFlag(_ scenario: Scenario) {
    let mailbox = RelaxedMailbox()
    let log = Scenario.Log<String?>()
    scenario.thread("writer") { mailbox.put("hello") }
    scenario.thread("reader") { log.append(mailbox.take()) }
    scenario.check {
        try Scenario.require([nil, "hello"].contains(log.entries[0]), "half a message")
    }
}

func flag(_ scenario: Scenario) {
    let mailbox = Mailbox()
    let log = Scenario.Log<String?>()
    scenario.thread("writer") { mailbox.put("hello") }
    scenario.thread("reader") { log.append(mailbox.take()) }
    scenario.check {
        try Scenario.require([nil, "hello"].contains(log.entries[0]), "half a message")
    }
}
