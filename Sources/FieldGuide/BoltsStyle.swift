import Foundation

/// The core of Bolts' `BFTask`, as its authors arranged it.
///
/// Kept: an array of callbacks; a completion source as the only way to settle; settling, and all
/// callbacks with it, **inside** one recursive lock; registering looks under the lock and, if it
/// came too late, calls outside of it; the default executor, which calls at once as long as a tenth
/// of the stack is left.
/// Left out: cancellation (a third way to end, and tokens), waiting, exceptions beside errors,
/// `whenAll` and its family. `@synchronized` is an `NSRecursiveLock` here, which is what it is.
/// Explained by: *Bolts主要源码解析*, "code two" (registering), "three" (`trySetResult:`,
/// `runContinuations`) and "four" (the executor); *Bolts、PromiseKit、Promises 源码简析*, part one.
public final class BoltsStyle<Value> {
    public typealias Outcome = Result<Value, any Error>

    private let lock = NSRecursiveLock()
    private var outcome: Outcome?
    private var callbacks: [() -> Void] = []

    public var result: Outcome? {
        synchronized { outcome }
    }

    fileprivate func trySet(_ outcome: Outcome) -> Bool {
        synchronized {
            guard self.outcome == nil else { return false }
            self.outcome = outcome
            for callback in callbacks { callback() }
            callbacks.removeAll()
            return true
        }
    }

    /// Calls `block` with this task when it has ended, in whatever way. A task that `block` returns
    /// is followed.
    @discardableResult
    public func continueWith<Next>(
        _ executor: BoltsExecutor = .default,
        _ block: @escaping (BoltsStyle<Value>) throws -> BoltsStyle<Next>
    ) -> BoltsStyle<Next> {
        let source = BoltsSource<Next>()
        whenCompleted {
            executor.execute {
                do {
                    let inner = try block(self)
                    if let outcome = inner.result {
                        source.trySet(outcome)
                    } else {
                        inner.whenCompleted { source.trySet(inner.result!) }
                    }
                } catch {
                    source.trySet(.failure(error))
                }
            }
        }
        return source.task
    }

    /// Calls `block` with the value; an error passes it by.
    @discardableResult
    public func continueOnSuccess<Next>(
        _ executor: BoltsExecutor = .default, _ block: @escaping (Value) throws -> Next
    ) -> BoltsStyle<Next> {
        continueWith(executor) { task in
            let source = BoltsSource<Next>()
            source.trySet(Result { try block(task.result!.get()) })
            return source.task
        }
    }

    private func synchronized<Answer>(_ body: () -> Answer) -> Answer {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    private func whenCompleted(_ callback: @escaping () -> Void) {
        let isCompleted = synchronized {
            if outcome == nil { callbacks.append(callback) }
            return outcome != nil
        }
        if isCompleted { callback() }
    }
}

/// Makes a task, and settles it.
public final class BoltsSource<Value> {
    public let task = BoltsStyle<Value>()
    public init() {}

    /// Settles the task, or says that it was settled already.
    @discardableResult
    public func trySet(_ outcome: BoltsStyle<Value>.Outcome) -> Bool {
        task.trySet(outcome)
    }

    /// The same, but it is a mistake to do so twice.
    public func set(_ outcome: BoltsStyle<Value>.Outcome) {
        if !trySet(outcome) { preconditionFailure("the task is completed already") }
    }
}

/// Where continuations run.
public struct BoltsExecutor {
    let execute: (@escaping () -> Void) -> Void

    public static var `default`: BoltsExecutor {
        watchingTheStack { work in DispatchQueue.global().async { work() } }
    }

    /// Calls at once, except when less than a tenth of the stack is left: then `handOver` gets it.
    public static func watchingTheStack(
        handOver: @escaping (@escaping () -> Void) -> Void
    ) -> BoltsExecutor {
        BoltsExecutor { work in
            if Stack.isNearlyUsedUp { handOver(work) } else { work() }
        }
    }
}

private enum Stack {
    static var isNearlyUsedUp: Bool {
        var here: UInt8 = 0
        let address = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        let (lowest, size) = bounds()
        return address - lowest < size / 10
    }

    #if canImport(Darwin)
        private static func bounds() -> (lowest: UInt, size: UInt) {
            let highest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
            let size = UInt(pthread_get_stacksize_np(pthread_self()))
            return (highest - size, size)
        }
    #else
        private typealias Ask =
            @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt

        /// The module of the C library has no name for it.
        private static let ask = unsafeBitCast(dlsym(nil, "pthread_getattr_np"), to: Ask.self)

        private static func bounds() -> (lowest: UInt, size: UInt) {
            var (attributes, lowest, size) = (pthread_attr_t(), UnsafeMutableRawPointer?.none, 0)
            _ = ask(pthread_self(), &attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_getstack(&attributes, &lowest, &size)
            return (UInt(bitPattern: lowest), UInt(size))
        }
    #endif
}
