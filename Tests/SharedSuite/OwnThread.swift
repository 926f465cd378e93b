import Foundation

/// Runs `body` on a separate thread, and returns its result: code that blocks must not run on a
/// thread of the concurrency pool.
package func onOwnThread<Answer: Sendable>(
    _ body: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result { try body() })
        }
    }
}
