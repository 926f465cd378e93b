// Rejected: E08.1 not settled
// A chain through the list. An error waits until the chain reaches its promise.

import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let here = ImmediateDispatcher()
    return promises.reduce(AWPromise<[Value]>.fulfilled([])) { chain, part in
        chain.then(on: here) { values in
            part.then(on: here) { value in values + [value] }
        }
    }
}
