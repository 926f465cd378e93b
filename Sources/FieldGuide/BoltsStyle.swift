import Foundation

/// The core of Bolts' `BFTask`, in the structure of the original.
///
/// Kept: an array of callbacks; a completion source that settles the task; one recursive lock, with
/// all callbacks called **inside** it; a registration that checks under the lock and calls outside
/// it if the task is completed; the default executor, which calls at once while more than a tenth
/// of the stack is left.
/// Left out: cancellation (a third end state, and tokens), waiting, exceptions in addition to errors,
/// `whenAll` and related functions. `@synchronized` is an `NSRecursiveLock` here.
/// Described in: *Bolts主要源码解析*, "code two" (registering), "three" (`trySetResult:`,
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

    /// Calls `block` with this task when it is completed. The new task completes as the task that
    /// `block` returns.
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

    /// Calls `block` with the value; an error skips it.
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

/// Creates a task and completes it.
public final class BoltsSource<Value> {
    public let task = BoltsStyle<Value>()
    public init() {}

    /// Completes the task. Returns `false` if it was completed before.
    @discardableResult
    public func trySet(_ outcome: BoltsStyle<Value>.Outcome) -> Bool {
        task.trySet(outcome)
    }

    /// Completes the task. Traps if it was completed before.
    public func set(_ outcome: BoltsStyle<Value>.Outcome) {
        if !trySet(outcome) { preconditionFailure("the task is completed already") }
    }
}

/// Decides where continuations run.
public struct BoltsExecutor {
    let execute: (@escaping () -> Void) -> Void

    public static var `default`: BoltsExecutor {
        watchingTheStack { work in DispatchQueue.global().async { work() } }
    }

    /// Calls work at once, or passes it to `handOver` if less than a tenth of the stack is left.
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

        /// The Swift module of the C library does not export this function.
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
