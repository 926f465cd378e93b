extension Exercise {
    static let keepTheOrder = Exercise(
        number: 7, title: "Keep the order across a settle", chapter: 5, adapters: promise,
        hints: [
            "The life of this promise has more than two phases. In which of them may a new "
                + "handler not be called at once, although the outcome is known?",
            "In that phase, a new handler may not be called, may not wait, and may not be "
                + "lost. What else can `observe` do with the handler, and which thread has to "
                + "know of it?",
            "At any time, at most one thread may call the handlers of a promise. Where is "
                + "it stored that a thread does, and under which lock is that read?",
            "The thread that calls handlers looks for the next one repeatedly, and in the "
                + "end finds none. What else has to change in the same critical section?",
            "Check late handlers, too: the promise is settled, and no thread is calling "
                + "handlers. A late handler is called at once; but what if another handler is "
                + "registered in the meantime?",
        ],
        afterword:
            "One more fact must be known under the lock: which thread is responsible for "
            + "the waiting handlers. It can be a third phase of the promise, as in Stage 3, "
            + "or a flag; the list itself, if a handler stays on it until it has returned; a "
            + "counter of requested deliveries, which the delivering thread raises from 0; or "
            + "a list that the thread closes that finds it empty. In all of them, \"no "
            + "handler is left\" and \"no thread is calling\" become true in one step. A "
            + "second lock around the calls also keeps the order, and deadlocks at the first "
            + "handler that waits.",
        forbidden: Forbidden.sentAway + Forbidden.finishedThing + Forbidden.mainQueue,
        requirements: PromiseChecks.ofOrder
            .requirements(7, threads: true) { PromisePrograms.inSequence() })
}
