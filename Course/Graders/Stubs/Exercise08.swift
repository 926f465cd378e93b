// Exercise 8 · All of them
//
// From here on you build on Stage 3: its promise is complete, and safe on any number of threads.
// This exercise and the next two add functions that wait for more than one event.
//
// Write `whenAll`. It returns a promise of the values of all promises in the list, the aggregate:
//
// - fulfilled when the last of them is fulfilled, with their values in the order of the list, in
//   whatever order they are fulfilled;
// - rejected as soon as one of them is rejected, with its error. If several are rejected, the first
//   one counts. Among those that are rejected before the call, that is the first in the list;
// - for an empty list, fulfilled at once with an empty array.
//
// A promise may occur more than once in the list, and may be settled before the call. Different
// threads may settle the promises at the same time, so protect what you store meanwhile. No handler
// may run while you hold a lock, and threads that wait for two different lists must not wait for
// each other.
//
// What Stage 3 offers, in addition to locks and atomics:
//
//     AWPromise<Value>.pending()           a promise, and the resolver that settles it
//     AWPromise.fulfilled(value)           a promise that is fulfilled; rejected(error): rejected
//     resolver.fulfill(value)              settles it, unless it is settled; also reject(error)
//     resolver.settle(outcome)             the same, with a value or an error
//     promise.result                       the outcome, or nil
//     promise.observe(on: here) { … }      a handler that receives the outcome, a value or an error
//     promise.then(on: here) { … }         a handler that receives the value
//     promise.error(on: here) { … }        a handler that receives the error
//
// `here` is `ImmediateDispatcher()`: without it, the handler runs on the main queue. Do not use
// Stage 3's own `all`, or what would do the work for you (`allSettled`, `follow`): the grader refuses
// them.
//
// Grade it with: swift run promise-lab grade 8

import PromiseOperators

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    // When the resolver is freed, the promise is abandoned. Keep a reference to it.
    _ = resolver
    return promise
}
