/// Settled promises whose handlers are still to be called.
///
/// Settling a promise does not call its handlers then and there: it puts the
/// promise on the agenda of whoever works through one already. A handler that
/// settles the next promise of a chain thereby returns before the handlers of
/// that one are called, and a chain of a million links needs no deeper stack
/// than a chain of one. (The idea is swift-nio's `CallbackList`.)
///
/// An agenda belongs to one thread: it is passed down as `inout`, never kept.
struct Agenda {
    private var promises: [any HandlerCaller] = []

    mutating func add(_ promise: any HandlerCaller) {
        promises.append(promise)
    }

    /// Returns when every promise on the agenda has called its handlers, and
    /// so have those that were added meanwhile; first come, first served.
    mutating func workThrough() {
        while !promises.isEmpty {
            let batch = promises
            promises = []
            for promise in batch {
                promise.callHandlers(&self)
            }
        }
    }
}

/// A promise, whatever the type of its value.
protocol HandlerCaller: Sendable {
    func callHandlers(_ agenda: inout Agenda)
}

extension Dispatcher {
    /// Runs `work` where this dispatcher wants it. Work that runs elsewhere or
    /// later begins an agenda of its own, since this one will be gone by then.
    func perform(
        _ agenda: inout Agenda,
        _ work: @escaping @Sendable (inout Agenda) -> Void
    ) {
        if runsImmediately {
            work(&agenda)
        } else {
            dispatch {
                var agenda = Agenda()
                work(&agenda)
                agenda.workThrough()
            }
        }
    }
}
