// Exercise 9 · The first of them
//
// Two functions that return a promise of the first of several events.
//
// `winner(of:)` settles as the first promise of the list does, with its value or its error. If
// several are already settled, the first in the list wins. For an empty list it is rejected with
// `OperatorError.noPromises`.
//
// `withTimeout` settles as the promise does, if that happens within `limit` from now; otherwise it
// is rejected with `OperatorError.timedOut` when the time is up. A promise that is settled before
// the call is in time, even if the limit is zero; a limit may also be negative. `schedule(after:_:)`
// makes a clock call a function later, and returns an alarm, which can be cancelled.
//
// Neither may leave anything behind when it is settled: no alarm on the clock, and no handler on a
// promise that is still pending. A promise that lives as long as the program may take part in many
// races. And if no promise of a race ever settles, nothing may keep itself alive in a cycle of
// references. (With a limit, a cycle that the alarm breaks is allowed.)
//
// What you need of Stage 3, in addition to what exercise 8 names:
//
//     let observation = promise.observe(on: here) { … }
//     observation.withdraw()                            the promise releases the handler
//     let alarm = clock.schedule(after: limit) { … }
//     alarm.cancel()                                    the clock releases the function
//
// Different threads may settle the promises and advance the clock, even while your function runs.
// No handler may run while you hold a lock, and threads with two different races must not wait for
// each other. As before, write `on: ImmediateDispatcher()`. Do not use Stage 3's own `race`,
// `timeout` and `follow`, or its cancellation.
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
