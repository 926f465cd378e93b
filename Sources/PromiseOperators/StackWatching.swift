import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs handlers at once, like ``ImmediateDispatcher``, as long as there is
/// stack left to do so, and on a queue when less than a tenth remains.
///
/// The default executor of Bolts, and the reason why a long chain does not end
/// the program there. (Bolts for Swift counts to 20 instead.) A chain needs no
/// such care here: its links never run inside one another. It is for functions
/// that settle the next promise themselves, from within a handler, and so on.
public struct StackWatchingDispatcher: Dispatcher {
    private let queue: DispatchQueue

    public init(queue: DispatchQueue = .global()) {
        self.queue = queue
    }

    public var runsImmediately: Bool {
        let stack = Stack.ofThisThread
        return stack.remaining > stack.size / 10
    }

    /// Work comes here when it must not run at once.
    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        queue.dispatch(work)
    }
}

private struct Stack {
    let lowest: Int
    let size: Int

    /// How far it is from here down to the lowest address.
    var remaining: Int {
        withUnsafePointer(to: self) { Int(bitPattern: $0) } - lowest
    }

    #if canImport(Darwin)
        static var ofThisThread: Stack {
            let thread = pthread_self()
            let highest = Int(bitPattern: pthread_get_stackaddr_np(thread))
            let size = pthread_get_stacksize_np(thread)
            return Stack(lowest: highest - size, size: size)
        }
    #else
        static var ofThisThread: Stack {
            var attributes = pthread_attr_t()
            _ = getAttributes(pthread_self(), &attributes)
            defer { pthread_attr_destroy(&attributes) }
            var lowest: UnsafeMutableRawPointer?
            var size = 0
            pthread_attr_getstack(&attributes, &lowest, &size)
            return Stack(lowest: Int(bitPattern: lowest), size: size)
        }

        private typealias GetAttributes =
            @convention(c) (
                pthread_t, UnsafeMutablePointer<pthread_attr_t>
            ) -> CInt

        /// Swift's module for the C library leaves this function out.
        private static let getAttributes = unsafeBitCast(
            dlsym(nil, "pthread_getattr_np"), to: GetAttributes.self)
    #endif
}
