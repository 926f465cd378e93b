/// What is still to be done: the calling of a settled promise's handlers.
///
/// Settling a promise does not call its handlers then and there: it puts that
/// on the agenda of whoever works through one already. A handler that
/// settles the next promise of a chain thereby returns before the handlers of
/// that one are called, and a chain of a million links needs no deeper stack
/// than a chain of one. (The idea is swift-nio's `CallbackList`.)
///
/// An agenda belongs to one thread: it is passed down as `inout`, never kept.
struct Agenda {
    typealias Item = @Sendable (inout Agenda) -> Void

    private var items: [Item] = []

    mutating func add(_ item: @escaping Item) {
        items.append(item)
    }

    /// Returns when everything on the agenda has been done, and so has what
    /// was added meanwhile; first come, first served.
    mutating func workThrough() {
        while !items.isEmpty {
            let batch = items
            items = []
            for item in batch { item(&self) }
        }
    }
}

extension Dispatcher {
    /// Runs `work` where this dispatcher wants it. Work that runs elsewhere or
    /// later begins an agenda of its own, since this one will be gone by then.
    func perform(
        _ agenda: inout Agenda,
        _ work: @escaping Agenda.Item
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
