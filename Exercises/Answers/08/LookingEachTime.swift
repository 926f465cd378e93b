// Each observer scans the whole list. Several may find it complete; they have the same values, and
// the promise settles once.

import PromiseOperators

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()

    func look() {
        var values: [Value] = []
        for part in promises {
            guard case .success(let value) = part.result else { return }
            values.append(value)
        }
        resolver.settle(.success(values))
    }

    look()
    for part in promises {
        part.observe(on: ImmediateDispatcher()) { outcome in
            if case .failure(let error) = outcome { resolver.settle(.failure(error)) }
            look()
        }
    }
    return promise
}
