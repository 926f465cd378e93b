import Foundation
import Stage3ThreadSafe

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Requests {
    /// The example on Stage 3: any thread may call this, and the session settles the promises on
    /// any thread. Only messages are printed on the queue, which also calls `done` at the end.
    func onStage3(done: @escaping @Sendable () -> Void) {
        get(first)
            .then(on: queue) { data in
                say("first request: \(String(decoding: data, as: UTF8.self))")
            }
            .then(on: queue) { _ in get(second) }
            .then(on: queue) { data in String(decoding: data, as: UTF8.self) }
            .then(on: queue) { text in
                say("second request: \(text)")
                say("all completed")
                done()
            }
            .error(on: queue) { error in
                say("error: \(words(error))")
                done()
            }
    }

    private func get(_ request: URLRequest) -> AWPromise<Data> {
        AWPromise { resolve, reject in
            let session = URLSession(configuration: .ephemeral)
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
