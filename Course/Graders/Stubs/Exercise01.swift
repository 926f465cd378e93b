// Exercise 1 · Be the scheduler
//
// No single line of Stage 2 is wrong. What goes wrong between two threads depends on which thread
// runs next, and in this exercise you decide that.
//
// An interleaving is written as a schedule, a row of letters. Each letter is one step of the thread
// whose name begins with it: `SSR` is two steps of the subscriber and one of the resolver; `S3R` is
// three steps and one. A step ends right before the thread accesses something that other threads
// can access, too. You do not have to write the whole schedule: after its last letter the threads
// run to their ends, in the order of the columns.
//
// 1. A subscriber (S) calls `then` while a resolver (R) fulfills the promise: hazard R01, threads
//    in this order. Find an interleaving in which the handler is never called.
// 2. Two threads, first (F) and second (S), fulfill the promise with 1 and with 2, and a handler is
//    waiting: hazard R02. Find an interleaving in which the handler is called twice.
//
// Read `settle` and `observe` in Sources/Stage2Handlers/AWPromise.swift, change the first row, and
// grade it. If your interleaving does not do that, the grader prints a table that shows line by line
// what it does instead. When the first row is right, the grader goes on to the second one. (It
// ignores the file as long as both rows are unchanged.)
//
// Grade it with: swift run promise-lab grade 1

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SSR"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FFFSSS"
}
