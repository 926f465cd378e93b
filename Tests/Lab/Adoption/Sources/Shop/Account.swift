import Foundation

/// A deadlock: two transfers in opposite directions take the locks in opposite order.
public final class Account {
    private var balance: Int
    private let lock = NSLock()

    public init(_ balance: Int) {
        self.balance = balance
    }

    public func transfer(_ amount: Int, to other: Account) {
        lock.withLock {
            other.lock.withLock {
                balance -= amount
                other.balance += amount
            }
        }
    }
}
