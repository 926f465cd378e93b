// Exercise 1 · Be the scheduler
//
// Nothing is wrong with any single line of Stage 2. What goes wrong between two threads is decided
// by whose turn it is, and this time that is for you to say.
//
// An interleaving is written as a row of letters: each is a step of the thread whose name begins
// with it. `SSR` is two steps of the subscriber and one of the resolver; `S3R` is three and one. A
// step ends right before the thread touches something that others can touch, too. You need not write
// the whole row: where yours ends, the threads go on to their ends, the first one first.
//
// 1. A subscriber (S) calls `then` while a resolver (R) fulfils the promise: hazard R01, threads in
//    this order. Find an interleaving in which the handler is never called.
// 2. Two threads, first (F) and second (S), fulfil the promise with 1 and with 2, and a handler is
//    waiting: hazard R02. Find an interleaving in which the handler is called twice.
//
// Read `settle` and `observe` in Sources/Stage2Handlers/AWPromise.swift, make a guess, and look at
// the table: it shows what your interleaving does, line by line.
//
// Grade it with: swift run promise-lab grade 1

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SSR"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FFFSSS"
}
