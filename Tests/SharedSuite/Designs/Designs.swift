import Dispatch
import FieldGuide

// The designs, and the rows that each fails; `Sources/FieldGuide/README.md` has the reasons. In H10
// a handler runs on the default queue of its library; if that is the main queue, it runs on a
// serial queue instead.

extension Subject {
    public static let bolts = Subject(
        .design, "BoltsStyle", module: "FieldGuide", title: "Bolts", Bolts.self,
        documented: [
            // A handler registered within a callback finds the task completed, and runs at once.
            "H08": .fails(.outOfOrder),
            "H10": .fails(.tooEarly),
            "H11": .fails(.waitsForEver),
            // Each callback and its task reference each other until the task is completed. For the
            // same reason a pending chain survives H19: it is never freed.
            "H14": .fails(.keptAlive),
            "H15": .fails(.silence),
            "R09": .fails(.deadlock),
            "R10": .fails(.deadlock),
            "C01": .fails(.refused),
        ])

    public static let promiseKit = Subject(
        .design, "PromiseKitStyle", module: "FieldGuide", title: "PromiseKit", PromiseKit.self,
        registerOnQueue: { queue, handler in
            PromiseKit { seal in seal(.success(1)) }
                .map(on: { work in queue.send(work) }) { _ in handler() }
        },
        documented: [
            "H08": .fails(.outOfOrder),
            "H12": .fails(.stackOverflow),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            "R06": .fails(.outOfOrder),
            "C01": .fails(.refused),
        ])

    public static let google = Subject(
        .design, "GooglePromisesStyle", module: "FieldGuide", title: "Google", Google.self,
        registerOnQueue: { queue, handler in
            let promise = Google.pending()
            promise.fulfill(1)
            promise.then(on: { work in queue.send(work) }) { _ in handler() }
        },
        usesDesignQueue: true,
        documented: [
            "H11": .fails(.waitsForEver),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            "C01": .fails(.refused),
        ])
}

extension Subject {
    public static let actor = Subject(
        "ActorStyle", title: "Actor", awaiting: ActorStyle<Int>.self,
        documented: [
            // While it awaits the handlers, another caller finds the promise pending.
            "R02": .fails(.twice),
            "R03": .fails(.bothKinds),
            // A handler that is registered meanwhile is discarded with those that were called.
            "R05": .fails(.lost),
            "R06": .fails(.lost),
            "R07": .fails(.lost),
        ])

    public static let repairedActor = Subject(
        "RepairedActor", title: "Fixed", awaiting: RepairedActor<Int>.self, documented: [:])
}

extension DispatchQueue {
    fileprivate func send(_ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        async { work() }
    }
}
