import RaceLab
import Synchronization

/// An account for one thread.
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

func account(_ scenario: Scenario) {
    let account = Account(balance: 100)
    scenario.thread("first") { account.withdraw(80) }
    scenario.thread("second") { account.withdraw(80) }
    scenario.check { try Scenario.require(account.balance >= 0, "the account is overdrawn") }
    scenario.state("balance") { "\(account.balance)" }
}

/// An account for any number of threads: the check and the act are one critical section.
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

func lockedAccount(_ scenario: Scenario) {
    let account = LockedAccount(balance: 100)
    scenario.thread("first") { account.withdraw(80) }
    scenario.thread("second") { account.withdraw(80) }
    scenario.check { try Scenario.require(account.balance >= 0, "the account is overdrawn") }
    scenario.state("balance") { "\(account.balance)" }
}
