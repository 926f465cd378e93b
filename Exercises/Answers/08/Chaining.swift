// No lock and no counter: a chain goes from one promise to the next and collects the values. Errors
// do not wait for the chain; they take a shortcut.

import PromiseOperators

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let here = ImmediateDispatcher()
    let (promise, resolver) = AWPromise<[Value]>.pending()
    for part in promises {
        part.error(on: here) { error in resolver.settle(.failure(error)) }
    }
    var chain = AWPromise<[Value]>.fulfilled([])
    for part in promises {
        chain = chain.then(on: here) { values in
            part.then(on: here) { value in values + [value] }
        }
    }
    chain.observe(on: here) { outcome in resolver.settle(outcome) }
    return promise
}
