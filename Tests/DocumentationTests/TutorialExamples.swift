import Foundation
import RaceLab
import Synchronization

// The classes that the Tutorial makes up, and what the lab finds in them. The Tutorial quotes from
// this file, and shows the tables.

// MARK: - Chapter 5: a lock for each variable, and none for the decision

final class Careless<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let handlers = Mutex<[@Sendable (Value) -> Void]>([])

    func fulfill(_ newValue: Value) {
        value.withLock { $0 = newValue }
        let waiting = handlers.withLock { $0 }
        for handler in waiting { handler(newValue) }
    }

    func then(_ handler: @escaping @Sendable (Value) -> Void) {
        if let value = value.withLock({ $0 }) {
            handler(value)
        } else {
            handlers.withLock { $0.append(handler) }
        }
    }
}

// MARK: - Chapter 9: a class of your own

final class Account {
    private(set) var balance: Int

    init(balance: Int) {
        self.balance = balance
    }

    func withdraw(_ amount: Int) {
        if balance >= amount {
            balance -= amount
        }
    }
}

final class LockedAccount: Sendable {
    private let amount: Mutex<Int>

    init(balance: Int) {
        amount = Mutex(balance)
    }

    var balance: Int { amount.withLock { $0 } }

    func withdraw(_ wanted: Int) {
        amount.withLock { amount in
            if amount >= wanted { amount -= wanted }
        }
    }
}

// MARK: - What the lab finds

enum TutorialExample: String, CaseIterable {
    case careless, account, lockedAccount

    func describe(_ scenario: Scenario) {
        switch self {
        case .careless: careless(scenario)
        case .account: account(scenario)
        case .lockedAccount: lockedAccount(scenario)
        }
    }

    private func careless(_ scenario: Scenario) {
        let promise = Careless<Int>()
        let log = Log<Int>()
        scenario.thread("subscriber") { promise.then { log.append($0) } }
        scenario.thread("resolver") { promise.fulfill(1) }
        scenario.check { try require(log.entries == [1], "the handler is not called, once") }
        scenario.state("handler heard") { "\(log.entries)" }
    }

    private func account(_ scenario: Scenario) {
        let account = Account(balance: 100)
        scenario.thread("first") { account.withdraw(80) }
        scenario.thread("second") { account.withdraw(80) }
        scenario.check { try require(account.balance >= 0, "the account is overdrawn") }
        scenario.state("balance") { "\(account.balance)" }
    }

    private func lockedAccount(_ scenario: Scenario) {
        let account = LockedAccount(balance: 100)
        scenario.thread("first") { account.withdraw(80) }
        scenario.thread("second") { account.withdraw(80) }
        scenario.check { try require(account.balance >= 0, "the account is overdrawn") }
        scenario.state("balance") { "\(account.balance)" }
    }

    /// The report in a line, and the table of its first finding, or of an interleaving in which all
    /// goes well.
    func lines() throws -> [String] {
        var options = Options()
        options.reduction = true
        let report = explore(options: options, describe)
        if let obstacle = report.obstacle { throw obstacle }
        var text = "\(report.failing) of \(report.explored) interleavings fail\n\n"
        if let finding = report.findings.first {
            if let trace = try report.counterexample(
                showing: finding, options: options, describe)
            {
                text += trace.table(width: 100) + "\n\n"
            }
            for finding in report.findings { text += "✗ in \(finding.count): \(finding)\n" }
        } else if let schedule = report.surviving {
            text += try replay(schedule, options: options, describe).table(width: 100)
            text += "\n\n✓ every check holds\n"
        }
        var lines = text.components(separatedBy: "\n")
        while lines.last == "" { lines.removeLast() }
        return lines
    }
}

/// What a reader of the last chapter begins with.
func look(at describe: @escaping (Scenario) -> Void) throws -> Bool {
    let report = explore(describe)
    print(report.summary)
    if let finding = report.findings.first {
        print(try replay(finding.schedule, describe).table())
    }
    return report.survives
}
