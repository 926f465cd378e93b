// Exercise 9 · The first of them
//
// Two functions that end as soon as one of several things has happened.
//
// `winner(of:)` ends as the first promise of the list ends, with its value or its error. Of several
// that are settled already, the first in the list wins. For an empty list it is rejected with
// `OperatorError.noPromises`.
//
// `withTimeout` ends as the promise ends, if it does within `limit` from now; otherwise it is
// rejected with `OperatorError.timedOut`, when the time is up. A clock makes a call later with
// `schedule(after:_:)`, and the alarm which that returns can be cancelled.
//
// Both have to leave nothing behind when it is decided: no alarm on the clock, and no handler on a
// promise that goes on. A promise that lives as long as the program may take part in a great many
// races.
//
// What you need of Stage 3, besides what exercise 8 names:
//
//     let observation = promise.observe(on: here) { … }
//     observation.withdraw()                            the promise lets go of the handler
//     let alarm = clock.schedule(after: limit) { … }
//     alarm.cancel()                                    the clock lets go of the call
//
// The promises may be settled, and the clock turned, on different threads, also while you are
// setting up. Nobody may be told while you hold a lock, and threads with two different races must
// not have to wait for each other. As before, say `on: ImmediateDispatcher()`. Stage 3's own
// `race`, `timeout` and `follow`, and its cancellation, are not to be used.
//
// Grade it with: swift run promise-lab grade 9

import PromiseOperators

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    _ = resolver
    return promise
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    promise
}
