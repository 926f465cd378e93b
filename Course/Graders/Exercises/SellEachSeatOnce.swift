import Dispatch
import RaceLab
import SharedSuite

extension Exercise {
    static let sellEachSeatOnce = Exercise(
        number: 13, title: "Sell each seat once", chapter: 10,
        adapters: ["BoxOffice", "TheBoxOffice"],
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
            atMost: 256, [0, 1, 12].map { ($0, Array(repeating: Sale(), count: $0 + 2)) }),
        alone(
            "E13.3", "a payment that fails",
            "Payments throw, with different errors. `sell` throws the same error, and the seat is "
                + "free for the next buyer.",
            asking:
                "Which lines run when `pay` throws, and what has been changed before that?",
            [(2, failures + failures)]),
        meeting(
            "E13.4", "two pay at the same time",
            "Anna and Ben buy one of two seats each. Each payment ends when the other one has "
                + "begun.",
            asking: "What keeps Ben from paying, although a seat is free? Which line decides it?",
            seats: 2, sold: 2, atOnce: true
        ) {
            let (anna, ben) = (Gate(), Gate())
            return [
                Visit("Anna") {
                    anna.open()
                    await ben.pass()
                },
                Visit("Ben") {
                    ben.open()
                    await anna.pass()
                },
            ]
        }
        .whenStuck(
            "over-synchronized",
            "one of the buyers cannot pay before the other one has paid, although two seats are "
                + "free"),
        .scenario(
            "E13.5", "sell ∥ sell, one seat",
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
        meeting(
            "E13.6", "refused at once",
            "Anna and Ben buy the last seat. If Anna has it, her payment ends only when Ben has "
                + "been refused.",
            asking: "What does the one who is refused wait for, and could `false` come earlier?",
            atOnce: true
        ) {
            let benLeaves = Gate()
            return [Visit("Anna") { await benLeaves.pass() }, Visit("Ben", opens: benLeaves)]
        }
        .whenStuck(
            "over-synchronized",
            "Ben waits for the payment of the last seat, instead of being refused"),
        alone(
            "E13.7", "many pay at the same time",
            "In the payment for each of 12 seats, the next one is sold, and `freeSeats` counts "
                + "those for which no payment has begun. Then the same with payments that fail, and "
                + "a 13th buyer, who is refused: each seat is free again.",
            asking: "In which lines does `freeSeats` change, and for what may it wait?",
            [(12, nested(12)), (12, nested(12, around: [Sale()], throwing: Declined.init))]
        )
        .whenStuck(
            "over-synchronized",
            "something waits for a payment that is not its own"),
        alone(
            "E13.8", "a buyer whose task is cancelled",
            "The task of a buyer is cancelled. The payment throws, and the only seat is free again. "
                + "Then the task of another buyer is cancelled. This payment goes on to its end, and "
                + "the buyer has the seat; a third one asks for it meanwhile, and is refused.",
            asking:
                "In which task does `pay` run, and is that the task which is cancelled? What do "
                + "you do with the money when a cancelled buyer has paid, and whose was the seat "
                + "until then?",
            [
                (
                    1,
                    [
                        Sale(error: CancellationError(), isCancelled: true),
                        Sale(inside: [Sale()], isCancelled: true),
                    ]
                )
            ]
        )
        .whenStuck("not cancelled", "`pay` waits for the cancellation, and does not see it"),
        .programs(
            "E13.9", "two payments overlap",
            "Two buyers pay for two of three seats at the same time. Either payment ends first, and "
                + "each may throw, and the buyer's task may be cancelled. `freeSeats` is read "
                + "after each step. Each payment for the third seat fails.",
            asking: "What does a payment change that another sale relies on?"
        ) { (answer: Answer) in
            let pairs = combinations([ends, ends])
            var programs = Programs(count: 2 * pairs.count) { number, scenario in
                var (sale, other) = (pairs[number / 2][0], pairs[number / 2][1])
                other.isLonger = number % 2 == 1
                sale.inside = [other, .third]
                sell([(3, [sale, .third])], answer, scenario)
            }
            programs.runs = 3_000
            return programs
        }
        .whenStuck(
            "over-synchronized",
            "something waits for a payment that is not its own"),
        .scenario(
            "E13.10", "sell ∥ freeSeats",
            "Anna buys one of two seats while Ben reads `freeSeats`: it is 2 or 1.",
            asking: "This task only reads. What keeps the writer out meanwhile?",
            with: Answer.self
        ) { scenario, answer in
            let visits = [Visit("Anna"), Visit("Ben", isReader: true)]
            meet(scenario, answer.office(seats: 2), seats: 2, sold: 1, visits)
            scenario.outcome { "\(visits[1].buyer.read ?? 0)" }
            scenario.expect("2", .acceptable, "Ben was first")
            scenario.expect("1", .acceptable, "Anna was first")
        },
        Requirement(
            id: "E13.11", name: "two box offices",
            story:
                "Two tasks each use a box office of their own, and drop another one. Neither may "
                + "wait for the other.",
            question: "What do a thousand box offices have in common?"
        ) { answer in
            let answer = answer as! Answer
            return .independence(
                Independence(
                    inTurn: { scenario in
                        let offices = (0..<5).map { _ in answer.office(seats: 2) }
                        let log = Scenario.Log<String>()
                        scenario.task("all") {
                            await use(offices[0])
                            log.append("the others")
                            for office in offices.dropFirst() { await use(office) }
                        }
                    },
                    { scenario, count in
                        let offices = (0...(count + 2)).map { _ in answer.office(seats: 2) }
                        scenario.task("first") {
                            await use(offices[0])
                            await useCancelled(offices[count + 1])
                            _ = answer.office(seats: 1)  // It is freed here.
                        }
                        scenario.task("second") {
                            for office in offices[1...count] { await use(office) }
                            await useCancelled(offices[count + 2])
                            _ = answer.office(seats: 1)
                        }
                    }))
        },
        .unwatched(
            "E13.12", "thousands of seats",
            "Buyers come one after the other, to an office with \(Bounds.many) seats. The last one, "
                + "whose task is cancelled, is refused. Then hundreds pay at the same time, and each "
                + "payment fails.",
            asking: "How far can your code count?", with: Answer.self
        ) { answer in
            try runToItsEnd {
                let all = Till(answer.office(seats: Bounds.many), Bounds.many)
                await all.sell(Array(repeating: Sale(), count: Bounds.many + 1))
                let late = Task {
                    // Waits until the task is cancelled.
                    await Gate().pass()
                    await all.sell([Sale()])
                }
                late.cancel()
                await late.value
                let failing = Till(answer.office(seats: 300), 300)
                await failing.sell(nested(300, throwing: Declined.init))
                return all.fault ?? failing.fault
            }
        },
        meeting(
            "E13.13", "an urgent buyer",
            "Anna's payment for the only seat fails while Ben reads `freeSeats`. Then Cleo, "
                + "whose task has a higher priority, buys the seat.",
            asking:
                "When `sell` throws, what is still left to do? Which other task may come before that?"
        ) {
            let annaLeaves = Gate()
            return [
                Visit("Anna", opens: annaLeaves) { throw Declined(1) },
                Visit("Ben", isReader: true),
                Visit("Cleo", after: [annaLeaves], isUrgent: true),
            ]
        },
        meeting(
            "E13.14", "one seat, three buyers",
            "Anna's payment for the only seat fails, and Ben asks for the seat. When Anna has left, "
                + "Cleo asks for it, too. Either Ben or Cleo has it.",
            asking: "Could a buyer be refused because of a buyer who is refused as well?"
        ) {
            let annaLeaves = Gate()
            return [
                Visit("Anna", opens: annaLeaves) { throw Declined(1) }, Visit("Ben"),
                Visit("Cleo", after: [annaLeaves]),
            ]
        },
        // The last one, because it has the most interleavings.
        meeting(
            "E13.15", "two payments fail",
            "Anna and Ben buy one of two seats each, and both payments fail. Afterwards Cleo reads "
                + "`freeSeats`: it is 2.",
            asking:
                "What is given back when a payment fails: one seat, or the number of seats at some "
                + "earlier time? Between which lines of one failed sale can the other one fail, too?",
            seats: 2, sold: 0
        ) {
            let gates = [Gate(), Gate()]
            return [
                Visit("Anna", opens: gates[0]) { throw Declined(1) },
                Visit("Ben", opens: gates[1]) { throw Declined(1) },
                Visit("Cleo", after: gates, isReader: true, expecting: 2),
            ]
        },
    ]

    /// Sales of one task, and of tasks that it waits for, at several offices. If the answer creates
    /// tasks, the number of interleavings doubles with each payment.
    private static func alone(
        _ id: String, _ name: String, _ story: String, asking question: String,
        atMost limit: Int = Requirement.maximumInterleavings,
        _ offices: [(seats: Int, sales: [Sale])]
    ) -> Requirement {
        .scenario(id, name, story, asking: question, with: Answer.self, atMost: limit) {
            sell(offices, $1, $0)
        }
    }

    private static func sell(
        _ offices: [(seats: Int, sales: [Sale])], _ answer: Answer, _ scenario: Scenario
    ) {
        let tills = offices.map { Till(answer.office(seats: $0.seats), $0.seats) }
        scenario.task("buyers") {
            for (till, office) in zip(tills, offices) {
                await till.sell(office.sales)
                await till.endLonger()
                if till.fault != nil { return }
            }
        }
        scenario.check {
            if let fault = tills.lazy.compactMap(\.fault).first { throw fault }
        }
    }

    /// How a payment can end.
    private static let ends = [
        Sale(), Sale(error: Declined(1)), Sale(isCancelled: true),
        Sale(error: Declined(2), isCancelled: true),
    ]

    private static let failures = [
        Sale(error: Declined(1)), Sale(error: CancellationError()), Sale(error: Declined(2)),
        Sale(),
    ]

    /// The payment for each seat sells the next one, and the last one makes these sales.
    private static func nested(
        _ seats: Int, around sales: [Sale] = [],
        throwing error: (Int) -> (any Error)? = { _ in nil }
    ) -> [Sale] {
        (1...seats).reduce(sales) { [Sale(error: error($1), inside: $0)] }
    }

    /// Without the lab.
    private static func runToItsEnd(_ work: @escaping @Sendable () async -> Fault?) throws {
        let (end, result) = (DispatchSemaphore(value: 0), TakingTurns<Fault?>(nil))
        Task {
            let fault = await work()
            result.access { $0 = fault }
            end.signal()
        }
        end.wait()
        if let fault = result.access({ $0 }) { throw fault }
    }

    private static func use(_ office: Office) async {
        _ = try? await office.sell {}
        _ = try? await office.sell { throw Declined(1) }
        _ = try? await office.sell { throw CancellationError() }
        _ = await office.freeSeats()
        // The last seat, and a refusal.
        for _ in 0..<2 { _ = try? await office.sell {} }
    }

    private static func useCancelled(_ office: Office) async {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try? await office.sell { try Task.checkCancellation() }
    }

    // MARK: Several tasks

    /// - Parameter sold: how many seats the visitors must have in the end.
    /// - Parameter atOnce: whether no buyer may sleep, or wait with a time limit.
    private static func meeting(
        _ id: String, _ name: String, _ story: String, asking question: String, seats: Int = 1,
        sold: Int = 1, atOnce: Bool = false, _ visits: @escaping @Sendable () -> [Visit]
    ) -> Requirement {
        .scenario(id, name, story, asking: question, with: Answer.self) { scenario, answer in
            let begin = atOnce ? ContinuousClock.now : nil
            meet(scenario, answer.office(seats: seats), seats: seats, sold: sold, visits())
            scenario.check {
                guard let begin, ContinuousClock.now != begin else { return }
                throw Fault(
                    "over-synchronized",
                    "a buyer sleeps, or waits with a time limit, instead of going on at once"
                )
            }
        }
    }

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
            if let fault = Buyer.fault(of: visits.map(\.buyer), seats: seats) { throw fault }
            if visits.count(where: \.buyer.hasSeat) < sold {
                throw Fault(
                    "refused",
                    "a buyer is refused, although a seat is free and none is being paid for")
            }
            for visit in visits {
                guard let count = visit.buyer.read, let expected = visit.expected else { continue }
                if count != expected {
                    throw Fault(
                        "wrong count",
                        "`freeSeats` is \(count) in the end; it should be \(expected)")
                }
            }
        }
    }
}

/// A sale to one buyer, and what happens during the payment.
private struct Sale: Sendable {
    /// What the payment throws, if it fails.
    var error: (any Error)?
    /// What the payment sells before it ends.
    var inside: [Sale] = []
    /// Whether the payment waits until the buyer's task is cancelled.
    var isCancelled = false
    /// Whether the payment ends later than that of the sale around it.
    var isLonger = false

    static let third = Sale(error: Declined(3))
}

/// Makes one sale after another, or during the payment of another, so each result is known.
///
/// The tasks that sell take turns, so it needs no lock: see ``TakingTurns``.
private final class Till: @unchecked Sendable {
    /// A sale that has begun, whether a seat was free, and the situation before.
    private typealias Begun = (sale: Sale, buyer: Buyer, isFree: Bool, situation: String)

    private let office: Office
    private let seats: Int
    private var free: Int
    private var paying = 0
    private var buyers = 0
    private var longer: (sale: Begun, mayEnd: Gate, task: Task<Void, Never>)?
    /// The first fault.
    private(set) var fault: Fault?

    init(_ office: Office, _ seats: Int) {
        self.office = office
        self.seats = seats
        free = seats
    }

    private var situation: String {
        "with \(free) of \(seats) seats free and \(paying) being paid for"
    }

    func sell(_ sales: [Sale]) async {
        for sale in sales where fault == nil {
            buyers += 1
            let begun: Begun = (sale, Buyer("buyer \(buyers)"), free > 0, situation)
            if begun.isFree { (free, paying) = (free - 1, paying + 1) }
            if sale.isLonger {
                await beginLonger(begun)
                continue
            }
            if sale.isCancelled {
                let task = Task {
                    await pay(begun) {
                        await Gate().pass()
                        // This task is not cancelled.
                        await Task { await self.sell(sale.inside) }.value
                        await self.look("the task of \(begun.buyer.name) is cancelled")
                    }
                }
                task.cancel()
                await task.value
            } else {
                await pay(begun) { await self.sell(sale.inside) }
            }
            await end(begun)
        }
    }

    private func beginLonger(_ begun: Begun) async {
        let (pays, mayEnd) = (Gate(), Gate())
        let task = Task {
            await pay(begun) {
                pays.open()
                await mayEnd.pass()
                if begun.sale.isCancelled { await Gate().pass() }
            }
            // A buyer who is refused does not pay.
            pays.open()
        }
        longer = (begun, mayEnd, task)
        await pays.pass()
        await look("\(begun.buyer.name) pays")
    }

    /// Ends the longer payment, if there is one, and lets another one fail.
    func endLonger() async {
        guard let (begun, mayEnd, task) = longer else { return }
        // A cancellation orders nothing.
        mayEnd.open()
        if begun.sale.isCancelled { task.cancel() }
        await task.value
        await end(begun)
        await sell([.third])
    }

    private func pay(_ begun: Begun, _ payment: @escaping @Sendable () async -> Void) async {
        await begun.buyer.buy(at: office) {
            await payment()
            if let error = begun.sale.error { throw error }
        }
    }

    private func end(_ begun: Begun) async {
        let hasPaid = begun.sale.error == nil
        if begun.isFree { (free, paying) = (free + (hasPaid ? 0 : 1), paying - 1) }
        fault = fault ?? fault(of: begun)
        await look("\(begun.buyer.name) has \(hasPaid ? "left" : "failed to pay")")
    }

    private func look(_ event: String) async {
        if fault != nil { return }
        let read = await office.freeSeats()
        if read == free { return }
        fault = Fault("wrong count", "when \(event), \(situation), `freeSeats` is \(read)")
    }

    private func fault(of begun: Begun) -> Fault? {
        let (sale, buyer, isFree, situation) = begun
        if isFree, buyer.payments == 0 {
            return Fault("refused", "\(situation), `pay` is not called for \(buyer.name)")
        }
        if let error = sale.error {
            guard let thrown = buyer.error else {
                return Fault("no error", "the payment throws \(error), and `sell` returns")
            }
            if type(of: thrown) != type(of: error) || "\(thrown)" != "\(error)" {
                return Fault(
                    "wrong error",
                    "the payment throws \(error), and `sell` throws \(thrown), which is of type "
                        + "`\(type(of: thrown))`")
            }
        }
        if let fault = Buyer.fault(of: [buyer], seats: 1) { return fault }
        if buyer.hasSeat != (isFree && sale.error == nil) {
            return Fault(
                isFree ? "refused" : "oversold",
                "\(situation), \(buyer.name) \(isFree ? "is refused" : "has a seat")")
        }
        return sale.error == nil
            ? buyer.error.map { Fault("wrong error", "no payment fails, and `sell` throws \($0)") }
            : nil
    }
}

/// What one task does in a scenario: a buyer buys a seat, or a reader reads `freeSeats`.
private struct Visit: Sendable {
    let buyer: Buyer
    private let gates: [Gate]
    private let exit: Gate?
    let isUrgent: Bool
    private let isReader: Bool
    let expected: Int?
    private let payment: Office.Payment

    /// - Parameters:
    ///   - gates: are passed before that.
    ///   - count: what a reader must read, if it is known.
    init(
        _ name: String, after gates: [Gate] = [], opens exit: Gate? = nil, isUrgent: Bool = false,
        isReader: Bool = false, expecting count: Int? = nil,
        paying payment: @escaping Office.Payment = {}
    ) {
        (buyer, self.gates, self.exit, self.isUrgent) = (Buyer(name), gates, exit, isUrgent)
        (self.isReader, expected, self.payment) = (isReader, count, payment)
    }

    func run(at office: Office) async {
        for gate in gates { await gate.pass() }
        if isReader {
            await buyer.readFreeSeats(at: office)
        } else {
            await buyer.buy(at: office, paying: payment)
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

/// A buyer of one seat, and what has happened to it. Recording adds no step to the scenario: see
/// ``TakingTurns``.
private final class Buyer: @unchecked Sendable {
    let name: String
    private(set) var payments = 0
    private var paid = 0
    private(set) var hasSeat = false
    private(set) var error: (any Error)?
    /// The number of free seats that it has read.
    private(set) var read: Int?
    private let log = Scenario.Log<String>()

    init(_ name: String) {
        self.name = name
    }

    func buy(at office: Office, paying payment: @escaping Office.Payment = {}) async {
        do {
            let hasSeat = try await office.sell {
                self.payments += 1
                self.log.append("pays", "\(self.name) pays")
                try await payment()
                self.paid += 1
            }
            self.hasSeat = hasSeat
            log.append("leaves", hasSeat ? "\(name) has a seat" : "\(name) is refused")
        } catch {
            self.error = error
            log.append("fails", "\(name): \(error)")
        }
    }

    func readFreeSeats(at office: Office) async {
        let count = await office.freeSeats()
        read = count
        log.append("reads", "\(name) reads \(count)")
    }

    /// Each of them must have paid once for a seat, or not at all, and no more seats may be sold
    /// than there are.
    static func fault(of buyers: [Buyer], seats: Int) -> Fault? {
        for buyer in buyers {
            let name = buyer.name
            if buyer.payments > 1 {
                return Fault("pays twice", "\(name) is asked twice to pay for one seat")
            }
            if buyer.hasSeat, buyer.paid == 0 {
                return Fault("not paid", "\(name) has a seat, and has not paid")
            }
            if !buyer.hasSeat, buyer.paid > 0 {
                return Fault("paid for nothing", "\(name) has paid, and has no seat")
            }
            if !buyer.hasSeat, buyer.error == nil, buyer.payments > 0 {
                return Fault("no error", "the payment of \(name) fails, and `sell` returns `false`")
            }
        }
        let sold = buyers.count(where: \.hasSeat)
        if sold > seats {
            return Fault(
                "oversold", "\(sold) buyers have paid, and the number of seats is \(seats)")
        }
        return nil
    }
}
