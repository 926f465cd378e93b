import Stage3ThreadSafe

extension Subject {
    /// Every subject, in the order of the columns: the stages, the steps, the designs.
    public static let all: [Subject] = [
        naive, handlers, threadSafe, oneLock, callOutside, thirdPhase, callbackQueue, dispatchers,
        bolts, promiseKit, google, actor, repairedActor,
    ]

    public static let naive = Subject(
        .stage, "1", module: "Stage1Naive", title: "Stage 1", Naive.self, typeForAPlus: Naive.self,
        documented: [
            "H02": .fails(.replaced),
            "H03": .fails(.linkLost),
            "H04": .fails(.settledTwice),
            "H05": .fails(.settledTwice),
            "H08": .cannotExpress("has room for one handler"),
            "H09": .cannotExpress("has room for one handler"),
            "H10": .fails(.tooEarly),
            "H12": .fails(.stackOverflow),
            "H13": .fails(.keptAlive),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            "R01": .fails(.lost),
            // Without settle-once, it fails even if the threads run one after the other.
            "R02": .fails(.twice, and: [.overlap]),
            "R03": .fails(.bothKinds, and: [.overlap]),
            // A second handler takes the slot, even if the threads run one after the other.
            "R04": .fails(.lost, and: [.overlap]),
            "R05": .fails(.lost, and: [.overlap]),
            "R06": .cannotExpress("has room for one handler"),
            // `error` takes the slot of the link, even if the threads run one after the other.
            "R07": .fails(.lost),
            // Line by line the results are right, but reading and writing are not ordered, and a
            // thread can read a value of several words that is half written.
            "R08": .fails(.dataRace),
            "R18": .fails(.dataRace, and: [.overlap]),
            "C01": .fails(.refused),
        ])

    public static let handlers = Subject(
        .stage, "2", module: "Stage2Handlers", title: "Stage 2", Handlers.self,
        typeForAPlus: Handlers.self,
        documented: [
            "H10": .fails(.tooEarly),
            "H12": .fails(.stackOverflow),
            "H15": .fails(.silence),
            "H19": .fails(.stackOverflow),
            // If the handler is not lost, one thread may append to the list while the other thread
            // empties it.
            "R01": .fails(.lost, and: [.overlap]),
            // Or the handler receives one value, and the promise keeps the other.
            "R02": .fails(.twice, and: [.disagrees, .overlap]),
            // Or the chain receives one outcome, and the promise keeps the other.
            "R03": .fails(.bothKinds, and: [.disagrees, .overlap]),
            // Line by line both handlers are kept. But appending to an array takes several machine
            // instructions, and the two threads can execute them concurrently.
            "R04": .fails(.overlap),
            "R05": .fails(.lost, and: [.overlap]),
            "R06": .fails(.outOfOrder, and: [.lost, .overlap]),
            "R07": .fails(.lost, and: [.overlap]),
            "R08": .fails(.dataRace),
            "R12": .fails(.lost, and: [.overlap]),
            "R18": .fails(.dataRace, and: [.overlap]),
            "C01": .fails(.refused),
        ])

    public static let threadSafe = Subject(
        .stage, "3", module: "Stage3ThreadSafe", title: "Stage 3", ThreadSafe.self,
        typeForAPlus: QueuedPromise.self,
        registerOnQueue: { queue, handler in
            let promise = ThreadSafe { resolve, _ in resolve(1) }
            promise.then(on: queue) { _ in handler() }
        },
        documented: [:])
}
