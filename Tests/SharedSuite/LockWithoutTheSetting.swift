import Foundation
import Synchronization

/// A counter behind a `Mutex`, in a target that is not compiled with `-sanitize=thread`. The lab
/// cannot see when the lock is free, and says so.
public final class LockWithoutTheSetting: @unchecked Sendable {
    private let mutex = Mutex(())
    public private(set) var count = 0

    public init() {}

    public func increment() {
        mutex.withLock { _ in count += 1 }
    }
}

/// A counter behind a mutex of the threads library, in such a target.
public final class ThreadsMutexWithoutTheSetting: @unchecked Sendable {
    private var mutex = pthread_mutex_t()
    public private(set) var count = 0

    public init() { pthread_mutex_init(&mutex, nil) }

    deinit { pthread_mutex_destroy(&mutex) }

    public func increment() {
        pthread_mutex_lock(&mutex)
        count += 1
        pthread_mutex_unlock(&mutex)
    }
}

/// Accesses of a target that is not compiled with `-sanitize=thread`, which the lab does not see.
public final class UncheckedWithoutTheSetting: @unchecked Sendable {
    @exclusivity(unchecked) private var count = 0
    private let first = Mutex(())
    private let second = Mutex(())

    public init() {}

    public func increment() { count += 1 }

    /// Takes two locks, in an order that the caller chooses.
    public func lockBoth(inOrder: Bool) {
        if inOrder {
            first.withLock { _ in second.withLock { _ in } }
        } else {
            second.withLock { _ in first.withLock { _ in } }
        }
    }
}
