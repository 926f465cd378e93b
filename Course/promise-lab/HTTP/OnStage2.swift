import Foundation
import Stage2Handlers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Requests {
    /// The example on Stage 2, which is correct on one thread at a time: the chain is built on the
    /// queue, and the session calls its completion handlers there. (For the same reason the article
    /// dispatches every response to the main queue.) `done` is called at the end, on the queue.
    func onStage2(done: @escaping @Sendable () -> Void) {
        queue.async {
            get(first)
                .then { data in say("first request: \(String(decoding: data, as: UTF8.self))") }
                .then { _ in get(second) }
                .then { data in String(decoding: data, as: UTF8.self) }
                .then { text in
                    say("second request: \(text)")
                    say("all completed")
                    done()
                }
                .error { error in
                    say("error: \(words(error))")
                    done()
                }
        }
    }

    private func get(_ request: URLRequest) -> AWPromise<Data> {
        AWPromise { resolve, reject in
            // Stage 2 knows nothing of threads, so it does not say that these may be sent.
            nonisolated(unsafe) let resolve = resolve
            nonisolated(unsafe) let reject = reject
            let session = session()
            session.dataTask(with: request) { data, response, error in
                switch outcome(data, response, error) {
                case .success(let data): resolve(data)
                case .failure(let error): reject(error)
                }
            }.resume()
            session.finishTasksAndInvalidate()
        }
    }
}
