// Exercise 8 · All of them
//
// From here on you stand on Stage 3: its promise is finished, and safe on any number of threads.
// This exercise and the next two add functions to it that wait for more than one thing.
//
// Write `whenAll`. It returns a promise of the values of all promises in the list:
//
// - fulfilled when the last of them is, with their values in the order of the list, whatever the
//   order in which they come;
// - rejected as soon as one of them is rejected, with its error; of several, the first counts;
// - for an empty list, fulfilled with an empty array, at once.
//
// A promise may stand in the list more than once, and may have been settled before. The promises
// may be settled by different threads, at the same time; what you keep meanwhile is yours to guard.
// Nobody may be told while you hold a lock, and threads that wait for two different lists must not
// have to wait for each other.
//
// What Stage 3 offers, besides locks and atomics:
//
//     AWPromise<Value>.pending()           a promise, and the resolver that settles it
//     AWPromise.fulfilled(value)           a promise that is fulfilled; rejected(error): rejected
//     resolver.fulfill(value)              settles it, unless somebody has; also reject(error)
//     resolver.settle(outcome)             the same, with a value or an error
//     promise.result                       the outcome, or nil
//     promise.observe(on: here) { … }      a handler that gets the outcome, a value or an error
//     promise.then(on: here) { … }         a handler that gets the value
//     promise.error(on: here) { … }        a handler that gets the error
//
// `here` is `ImmediateDispatcher()`: without it, the handler is sent to the main queue. Stage 3's own
// `all` and whatever else would do the work for you (`allSettled`, `follow`) are not to be used, and
// these words are refused wherever they stand.
//
// Grade it with: swift run promise-lab grade 8

import PromiseOperators

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    // Whoever drops the resolver has abandoned the promise: somebody has to keep it.
    _ = resolver
    return promise
}
