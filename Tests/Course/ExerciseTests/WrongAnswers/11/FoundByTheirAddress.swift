// Rejected: E11.3 lost
// Observers are found by the address of a registration, which a later one may have again.

import Foundation

private final class `Lock`: @unchecked Sendable {
    private let `m` = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    init() { pthread_mutex_init(`m`, nil) }
    deinit { pthread_mutex_destroy(`m`); `m`.deallocate() }
    func `while`<R>(_ `do`: () -> R) -> R {
        pthread_mutex_lock(`m`); defer { pthread_mutex_unlock(`m`) }; return `do`()
    }
}
private struct `Entry` { let `self`: ObjectIdentifier; let `call`: @Sendable () -> Void }
public final class CancelSource: @unchecked Sendable {
    public let token = CancelToken(); public init() {}
    public func cancel() { token.`throw`() }
}
public final class CancelToken: @unchecked Sendable {
    private let `lock` = `Lock`(); private var `is` = false; private var `all` = [`Entry`]()
    public var isCancelled: Bool { `lock`.while { `is` } }
    public func onCancel(_ `observer`: @escaping @Sendable () -> Void) -> Registration {
        let `r` = Registration(self)
        let `late` = `lock`.while { () -> Bool in
            if !`is` { `all`.append(`Entry`(self: ObjectIdentifier(`r`), call: `observer`)) }
            return `is`
        }
        if `late` { `observer`() }; return `r`
    }
    fileprivate func `throw`() {
        let `old` = `lock`.while { () -> [`Entry`] in
            defer { `is` = true; `all` = [] }; return `all`
        }
        `old`.forEach { $0.call() }
    }
    fileprivate func `catch`(_ `r`: Registration) {
        let `gone` = `lock`.while { () -> [`Entry`] in
            let `gone` = `all`.filter { $0.`self` == ObjectIdentifier(`r`) }
            `all`.removeAll { $0.`self` == ObjectIdentifier(`r`) }
            return `gone`
        }
        withExtendedLifetime(`gone`) {}
    }
}
public final class Registration: @unchecked Sendable {
    private let `in`: CancelToken
    fileprivate init(_ `token`: CancelToken) { `in` = `token` }
    public func withdraw() { `in`.catch(self) }
}
