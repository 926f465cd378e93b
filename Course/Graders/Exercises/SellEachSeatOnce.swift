import Dispatch
import RaceLab
import SharedSuite

extension Exercise {
    static let sellEachSeatOnce = Exercise(
        13, "Sell each seat once", chapter: 10, adapter: "BoxOffice", "TheBoxOffice",
        hints: [
            "`sell` checks, waits, and acts. An actor runs one of its functions at a time, but at "
                + "an `await` it may run another one. What may have changed when `sell` continues?",
            "A seat that is being paid for is not free any more. In which line does your office "
                + "know that a seat is being paid for?",
            "Check and act belong together, with no `await` between them: either both before the "
                + "payment, or both after it. Which of these would take money for nothing?",
            "What has been taken before the payment must be given back if there is no payment, "
                + "whatever the error. Give back one seat: a count that was stored before the "
                + "`await` may be out of date.",
        ],
        afterword:
            "The seat is taken before the `await`, and given back if the payment throws. Whether "
            + "an actor, a lock or a queue protects the count does not matter, as long as none of "
            + "them is held during a payment. Databases call this a reservation; a step that "
            + "takes back an earlier one is a compensation.",
        requirements: OfficeRequirements.all)
}

private enum OfficeRequirements {
    typealias Answer = any OfficeAnswer

    static let all: [Requirement] = [
        Requirement(
            id: "E13.1", name: "the report",
            story:
                "Anna and Ben buy the last seat of the original box office. In the interleaving "
                + "that you give, both must pay and have it.",
            question:
                "After which step of Anna's does she rely on the number of free seats, and after "
                + "which step is it a different one?"
        ) { answer in
            let answer = answer as! Answer
            var options = Exploration.Options()
            options.failingKinds = [.failedCheck]
            return .scheduled(
                Scheduled(
                    schedule: answer.schedule, options: options, wanted: nil,
                    wish: "in which the seat is sold twice"
                ) { meet($0, answer.original(seats: 1), [Visit("Anna"), Visit("Ben")]) })
        },
        alone(
            "E13.2", "one after the other",
            "Buyers come one after the other, to offices with 0, 1 and 12 seats. They pay once, and "
                + "have a seat, until all seats are sold; then they are refused, and do not pay.",
            asking: "What does `sell` check before it asks for money, and what does it count?",
            atMost: 256
        ) { answer in
            for seats in [0, 1, 12] { _ = try await oneByOne(answer, seats) }
        },
        alone(
            "E13.3", "a payment that fails",
            "Payments throw, with different errors. `sell` throws the same error, and the seat is "
                + "free for the next buyer.",
            asking:
                "Which lines run when `pay` throws, and what has been changed before that?"
        ) { try await failures($0) },
        .scenario(
            "E13.5", "two pay at the same time",
            "Anna and Ben buy one of two seats each. Each payment ends when the other one has "
                + "begun.",
            asking: "What does Ben wait for, although a seat is free? Which decision needs that?",
            with: Answer.self
        ) { scenario, answer in
            let (anna, ben) = (Gate(), Gate())
            let visits = [
                Visit("Anna") {
                    anna.open()
                    await ben.pass()
                },
                Visit("Ben") {
                    ben.open()
                    await anna.pass()
                },
            ]
            meet(scenario, answer.office(seats: 2), seats: 2, sold: 2, visits)
        }
        .whenStuck(
            "over-synchronized",
            "one of the buyers cannot pay before the other one has paid, although two seats are "
                + "free"),
        .scenario(
            "E13.6", "sell ∥ sell, one seat",
            "Anna and Ben buy the last seat. One of them has it, and only that one pays.",
            asking:
                "At the marked step, what does the one buyer assume that the other one has made "
                + "untrue?",
            with: Answer.self
        ) { scenario, answer in
            let visits = [Visit("Anna"), Visit("Ben")]
            meet(scenario, answer.office(seats: 1), visits)
            scenario.outcome { visits.first { $0.buyer.hasSeat }?.buyer.name ?? "no buyer" }
            scenario.expect("Anna", .acceptable, "Anna was first")
            scenario.expect("Ben", .acceptable, "Ben was first")
        },
        .scenario(
            "E13.7", "refused at once",
            "Anna and Ben buy the last seat. If Anna has it, her payment ends only when Ben has "
                + "been refused.",
            asking: "What does Ben wait for, and could `false` be the answer already?",
            with: Answer.self
        ) { scenario, answer in
            let benLeaves = Gate()
            let visits = [
                Visit("Anna") { await benLeaves.pass() }, Visit("Ben", opens: benLeaves),
            ]
            meet(scenario, answer.office(seats: 1), visits)
        }
        .whenStuck(
            "over-synchronized",
            "Ben waits for the payment of the last seat, instead of being refused"),
        alone(
            "E13.9", "many pay at the same time",
            "In the payment for each of 12 seats, the next one is sold, and `freeSeats` counts "
                + "those for which no payment has begun. Then the same with payments that fail: each "
                + "seat is free again.",
            asking: "In which lines does `freeSeats` change, and for what may it wait?"
        ) { try await nested($0) }
        .whenStuck(
            "over-synchronized",
            "something waits for a payment that is not its own"),
        alone(
            "E13.4", "a buyer whose task is cancelled",
            "Anna's task is cancelled. Her payment throws, and the only seat is free again. Then "
                + "Ben's task is cancelled. His payment goes on to its end, and he has the seat; "
                + "Cleo asks for it meanwhile, and is refused.",
            asking:
                "In which task does `pay` run, and is that the task which is cancelled? What do "
                + "you do with the money when a cancelled buyer has paid, and whose was the seat "
                + "until then?"
        ) { try await cancelled($0) }
        .whenStuck("not cancelled", "`pay` waits for the cancellation, and does not see it"),
        .scenario(
            "E13.10", "sell ∥ freeSeats",
            "Anna buys one of two seats while Ben reads `freeSeats`: it is 2 or 1.",
            asking: "This task only reads. What keeps the writer out meanwhile?",
            with: Answer.self
        ) { scenario, answer in
            let visits = [Visit("Anna"), Visit(reader: "Ben")]
            meet(scenario, answer.office(seats: 2), seats: 2, sold: 1, visits)
            scenario.outcome { "\(visits[1].buyer.read ?? 0)" }
            scenario.expect("2", .acceptable, "Ben was first")
            scenario.expect("1", .acceptable, "Anna was first")
        },
        Requirement(
            id: "E13.11", name: "two box offices",
            story:
                "Two tasks each use a box office of their own. Neither may wait for the other.",
            question: "What do a thousand box offices have in common?"
        ) { answer in
            let answer = answer as! Answer
            return .independence(
                Independence(
                    inTurn: { scenario in
                        let offices = [answer.office(seats: 2), answer.office(seats: 2)]
                        let log = Scenario.Log<String>()
                        scenario.task("both") {
                            await use(offices[0])
                            log.append("the second box office")
                            await use(offices[1])
                        }
                    },
                    { scenario in
                        for name in ["first", "second"] {
                            let office = answer.office(seats: 2)
                            scenario.task(name) { await use(office) }
                        }
                    }))
        },
        .unwatched(
            "E13.15", "thousands of seats",
            "Buyers come one after the other, to an office with \(Bounds.many) seats. The last one, "
                + "whose task is cancelled, is refused. Then hundreds pay at the same time, and each "
                + "payment fails.",
            asking: "How far can your code count?", with: Answer.self
        ) { answer in
            try runToItsEnd {
                let office = try await oneByOne(answer, Bounds.many)
                let late = Buyer("a buyer whose task is cancelled")
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    await late.buy(at: office)
                }
                task.cancel()
                await task.value
                if late.error != nil {
                    throw Fault("wrong error", "no seat is free, and `sell` throws")
                }
                try await fail(upTo: 300, of: 300, at: answer.office(seats: 300))
            }
        },
        Requirement(
            id: "E13.12", name: "an urgent buyer",
            story:
                "Anna's payment for the only seat fails while Ben reads `freeSeats`. Then Cleo, "
                + "whose task has a higher priority, buys the seat.",
            question:
                "When `sell` throws, what is still left to do? Which other task may come before that?"
        ) { answer in
            let answer = answer as! Answer
            var options = Exploration.Options()
            // With a bound, no interleavings are left out as equivalent. The lab does not know that
            // the order in which an actor serves its tasks also depends on their priorities.
            options.preemptionBound = 1
            options.maximumInterleavings = Requirement.maximumInterleavings
            return .scenario(options) { scenario in
                let annaLeaves = Gate()
                meet(
                    scenario, answer.office(seats: 1),
                    [
                        Visit("Anna", opens: annaLeaves) { throw Declined(1) },
                        Visit(reader: "Ben"), Visit("Cleo", after: [annaLeaves], isUrgent: true),
                    ])
            }
        },
        .scenario(
            "E13.14", "one seat, three buyers",
            "Anna's payment for the only seat fails, and Ben asks for the seat. When Anna has left, "
                + "Cleo asks for it, too. Either Ben or Cleo has it.",
            asking: "Could a buyer be refused because of a buyer who is refused as well?",
            with: Answer.self
        ) { scenario, answer in
            let annaLeaves = Gate()
            meet(
                scenario, answer.office(seats: 1),
                [
                    Visit("Anna", opens: annaLeaves) { throw Declined(1) }, Visit("Ben"),
                    Visit("Cleo", after: [annaLeaves]),
                ])
        },
        // The last two, because they have the most interleavings.
        .scenario(
            "E13.8", "one payment fails, one does not",
            "Anna and Ben buy one of two seats each, and Anna's payment fails. Afterwards "
                + "`freeSeats` is 1.",
            asking:
                "What is given back when a payment fails: one seat, or the number of seats at "
                + "some earlier time?",
            with: Answer.self
        ) { someFail($0, $1.office(seats: 2), 1) },
        .scenario(
            "E13.13", "two payments fail",
            "Anna and Ben buy one of two seats each, and both payments fail. Afterwards "
                + "`freeSeats` is 2.",
            asking:
                "Between which lines of one failed sale can the other one fail, too? What does it "
                + "find there?",
            with: Answer.self
        ) { someFail($0, $1.office(seats: 2), 2) },
    ]

    /// Runs, in a single task, a function that throws a ``Fault``. There is more than one
    /// interleaving only if the answer creates tasks, and then their number doubles with each payment.
    private static func alone(
        _ id: String, _ name: String, _ story: String, asking question: String,
        atMost limit: Int = Requirement.maximumInterleavings,
        _ run: @escaping @Sendable (Answer) async throws -> Void
    ) -> Requirement {
        .scenario(id, name, story, asking: question, with: Answer.self, atMost: limit) {
            scenario, answer in
            let faults = Scenario.Log<Fault>()
            scenario.task("buyers") {
                do {
                    try await run(answer)
                } catch let fault as Fault {
                    faults.append(fault, fault.reason)
                }
            }
            scenario.check { if let fault = faults.entries.first { throw fault } }
        }
    }

    // MARK: One task

    private static func oneByOne(_ answer: Answer, _ seats: Int) async throws -> Office {
        let office = answer.office(seats: seats)
        for sold in 0..<(seats + 2) {
            let buyer = Buyer("buyer \(sold + 1)")
            await buyer.buy(at: office)
            try Buyer.expectFair([buyer], seats: 1)
            if buyer.hasSeat != (sold < seats) {
                throw Fault(
                    sold < seats ? "refused" : "oversold",
                    "after \(min(sold, seats)) sales of \(seats) seats, the next buyer "
                        + "\(sold < seats ? "is refused" : "has a seat")")
            }
            try await expect(max(0, seats - sold - 1), at: office)
        }
        return office
    }

    /// Without the lab.
    private static func runToItsEnd(_ work: @escaping @Sendable () async throws -> Void) throws {
        let (end, result) = (
            DispatchSemaphore(value: 0), TakingTurns<Result<Void, any Error>?>(nil)
        )
        Task {
            do {
                try await work()
            } catch {
                result.access { $0 = .failure(error) }
            }
            end.signal()
        }
        end.wait()
        try result.access { $0 }?.get()
    }

    private static func failures(_ answer: Answer) async throws {
        let office = answer.office(seats: 2)
        for sold in 0..<2 {
            for error in [Declined(1), CancellationError(), Declined(2)] as [any Error] {
                let buyer = Buyer("buyer")
                await buyer.buy(at: office) { throw error }
                guard let thrown = buyer.error else {
                    throw Fault("no error", "the payment throws \(error), and `sell` returns")
                }
                if "\(thrown)" != "\(error)" {
                    throw Fault(
                        "wrong error", "the payment throws \(error), and `sell` throws \(thrown)")
                }
                try Buyer.expectFair([buyer], seats: 1)
                try await expect(2 - sold, at: office, "after a payment has failed")
            }
            let buyer = Buyer("buyer")
            await buyer.buy(at: office)
            try Buyer.expectFair([buyer], seats: 1)
            if !buyer.hasSeat {
                throw Fault("refused", "after a payment has failed, the next buyer is refused")
            }
        }
    }

    private static func cancelled(_ answer: Answer) async throws {
        let office = answer.office(seats: 1)
        let (leaves, stays, late) = (Buyer("Anna"), Buyer("Ben"), Buyer("Cleo"))
        let (never, countMeanwhile) = (Gate(), Scenario.Log<Int>())
        for buyer in [leaves, stays] {
            let task = Task {
                await buyer.buy(at: office) {
                    // Waits until the task is cancelled.
                    await never.pass()
                    if buyer === leaves { throw CancellationError() }
                    // This task is not cancelled.
                    await Task {
                        await late.buy(at: office)
                        countMeanwhile.append(await office.freeSeats())
                    }.value
                }
            }
            task.cancel()
            await task.value
            try Buyer.expectFair([leaves, stays, late], seats: 1)
            if buyer.payments == 0 {
                throw Fault(
                    "refused", "the seat is free, and `pay` is not called for \(buyer.name)")
            }
            try await expect(
                buyer.hasSeat ? 0 : 1, at: office, "after the payment of \(buyer.name)")
        }
        if countMeanwhile.entries.contains(where: { $0 > 0 }) {
            throw Fault(
                "wrong count", "while Ben pays for the only seat, `freeSeats` counts it as free")
        }
    }

    /// The payment for each seat sells the next one.
    private static func nested(_ answer: Answer) async throws {
        let office = answer.office(seats: 12)
        try await sell(upTo: 12, at: office)
        try await expect(0, at: office)
        try await fail(upTo: 12, of: 12, at: answer.office(seats: 12))
    }

    private static func fail(upTo free: Int, of seats: Int, at office: Office) async throws {
        guard free > 0 else { return }
        let faults = Scenario.Log<Fault>()
        await Buyer("buyer \(seats + 1 - free)").buy(at: office) {
            do {
                try await fail(upTo: free - 1, of: seats, at: office)
            } catch let fault as Fault {
                faults.append(fault)
            }
            throw Declined(free)
        }
        if let fault = faults.entries.first { throw fault }
        try await expect(
            free, at: office,
            "after \(seats + 1 - free) of \(seats) payments at the same time have failed")
    }

    private static func sell(upTo free: Int, at office: Office) async throws {
        try await expect(free, at: office, "with \(12 - free) of 12 payments begun")
        let buyer = Buyer("buyer \(13 - free)")
        let faults = Scenario.Log<Fault>()
        await buyer.buy(at: office) {
            do {
                if free > 0 { try await sell(upTo: free - 1, at: office) }
            } catch let fault as Fault {
                faults.append(fault)
            }
        }
        if let fault = faults.entries.first { throw fault }
        try Buyer.expectFair([buyer], seats: 1)
        if buyer.hasSeat != (free > 0) {
            throw Fault(
                free > 0 ? "refused" : "oversold",
                "with \(12 - free) of 12 payments begun, the next buyer "
                    + "\(free > 0 ? "is refused" : "has a seat")")
        }
    }

    private static func expect(
        _ free: Int, at office: Office, _ when: String = "after that"
    ) async throws {
        let count = await office.freeSeats()
        if count != free {
            throw Fault("wrong count", "\(when), `freeSeats` is \(count); it should be \(free)")
        }
    }

    private static func use(_ office: Office) async {
        _ = try? await office.sell {}
        _ = try? await office.sell { throw Declined(1) }
        _ = await office.freeSeats()
    }

    // MARK: Several tasks

    /// - Parameter sold: how many seats the visitors must have in the end.
    private static func meet(
        _ scenario: Scenario, _ office: Office, seats: Int = 1, sold: Int = 1, _ visits: [Visit]
    ) {
        for (index, field) in office.fields().enumerated() {
            scenario.state(field.title) { office.fields()[index].value }
        }
        for visit in visits {
            scenario.task(visit.buyer.name) {
                if visit.isUrgent {
                    await Task(priority: .high) { await visit.run(at: office) }.value
                } else {
                    await visit.run(at: office)
                }
            }
        }
        scenario.check {
            try Buyer.expectFair(visits.map(\.buyer), seats: seats)
            if visits.count(where: \.buyer.hasSeat) < sold {
                throw Fault(
                    "refused",
                    "a buyer is refused, although a seat is free and none is being paid for")
            }
        }
    }

    /// Of two payments, the first `count` fail.
    private static func someFail(_ scenario: Scenario, _ office: Office, _ count: Int) {
        let gates = [Gate(), Gate()]
        let buyers = zip(["Anna", "Ben"], gates).enumerated().map { index, pair in
            Visit(pair.0, opens: pair.1) { if index < count { throw Declined(1) } }
        }
        let reader = Visit(reader: "Cleo", after: gates)
        meet(scenario, office, seats: 2, sold: 2 - count, buyers + [reader])
        scenario.check {
            if let read = reader.buyer.read, read != count {
                throw Fault(
                    "wrong count",
                    "\(2 - count) of two seats are sold, and `freeSeats` is \(read)")
            }
        }
    }
}

/// What one task does in a scenario: a buyer buys a seat, or a reader reads `freeSeats`.
private struct Visit: Sendable {
    let buyer: Buyer
    private let gates: [Gate]
    private let exit: Gate?
    /// `nil` for a reader.
    private let payment: Office.Payment?
    var isUrgent = false

    /// - Parameter gates: are passed before that.
    init(
        _ name: String, after gates: [Gate] = [], opens exit: Gate? = nil, isUrgent: Bool = false,
        paying payment: @escaping Office.Payment = {}
    ) {
        (buyer, self.gates, self.exit, self.payment) = (Buyer(name), gates, exit, payment)
        self.isUrgent = isUrgent
    }

    init(reader name: String, after gates: [Gate] = []) {
        (buyer, self.gates, exit, payment) = (Buyer(name), gates, nil, nil)
    }

    func run(at office: Office) async {
        for gate in gates { await gate.pass() }
        if let payment {
            await buyer.buy(at: office, paying: payment)
        } else {
            await buyer.readFreeSeats(at: office)
        }
        exit?.open()
    }
}

/// The error of a payment.
private struct Declined: Error, CustomStringConvertible {
    let description: String

    init(_ number: Int) {
        description = "Declined(\(number))"
    }
}

/// Lets tasks pass when it is open, or when they are cancelled.
private struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    func pass() async {
        for await _ in stream {}
    }
}

/// A buyer of one seat, and what has happened to it. Recording adds no step to the scenario.
private final class Buyer: Sendable {
    private struct Record {
        var (payments, paid) = (0, 0)
        var hasSeat = false
        var error: (any Error)?
        var read: Int?
    }

    let name: String
    private let record = TakingTurns(Record())
    private let log = Scenario.Log<String>()

    init(_ name: String) {
        self.name = name
    }

    var hasSeat: Bool { record.access { $0.hasSeat } }
    var error: (any Error)? { record.access { $0.error } }
    var payments: Int { record.access { $0.payments } }
    var read: Int? { record.access { $0.read } }

    /// Not inlined: in optimized code, a lock that is taken inside of an `async` function may be
    /// released in the name of another thread.
    @inline(never)
    private func note(_ change: (inout Record) -> Void) { record.access { change(&$0) } }

    func buy(at office: Office, paying payment: @escaping Office.Payment = {}) async {
        do {
            let hasSeat = try await office.sell {
                self.note { $0.payments += 1 }
                self.log.append("pays", "\(self.name) pays")
                try await payment()
                self.note { $0.paid += 1 }
            }
            note { $0.hasSeat = hasSeat }
            log.append("leaves", hasSeat ? "\(name) has a seat" : "\(name) is refused")
        } catch {
            note { $0.error = error }
            log.append("fails", "\(name): \(error)")
        }
    }

    func readFreeSeats(at office: Office) async {
        let count = await office.freeSeats()
        note { $0.read = count }
        log.append("reads", "\(name) reads \(count)")
    }

    /// Checks that each of them has paid once for a seat, or not at all, and that no more seats are
    /// sold than there are.
    static func expectFair(_ buyers: [Buyer], seats: Int) throws {
        for buyer in buyers {
            let (name, record) = (buyer.name, buyer.record.access { $0 })
            if record.payments > 1 {
                throw Fault("pays twice", "\(name) is asked twice to pay for one seat")
            }
            if record.hasSeat, record.paid == 0 {
                throw Fault("not paid", "\(name) has a seat, and has not paid")
            }
            if !record.hasSeat, record.paid > 0 {
                throw Fault("paid for nothing", "\(name) has paid, and has no seat")
            }
            if !record.hasSeat, record.error == nil, record.payments > 0 {
                throw Fault("no error", "the payment of \(name) fails, and `sell` returns `false`")
            }
        }
        let sold = buyers.count(where: \.hasSeat)
        if sold > seats {
            throw Fault("oversold", "\(sold) buyers have paid, and the number of seats is \(seats)")
        }
    }
}
