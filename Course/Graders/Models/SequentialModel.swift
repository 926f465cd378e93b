import RaceLab
import SharedSuite

// Shared by exercises 8 to 11: a model of the interface, and small programs over it.

/// The interface that an exercise asks for, as plain sequential code.
protocol SequentialModel: Hashable {
    associatedtype Operation: Hashable, Sendable, CustomStringConvertible
    /// What can be seen of an answer.
    associatedtype Seen: Hashable

    init()

    /// What an operation does. It is atomic. If several states may follow, it returns all of them.
    /// A call of a handler is an operation of its own, which the same thread does next.
    func after(_ operation: Operation) -> [Following<Self>]

    var seen: Seen { get }

    /// What is wrong with what was seen after an operation.
    ///
    /// - Parameter end: the same at the end of the program.
    static func fault(
        _ seen: Seen, insteadOf expected: Seen, end: (seen: Seen, expected: Seen)
    ) -> Fault
}

struct Following<Model: SequentialModel> {
    var model: Model
    var next: [Model.Operation] = []
}

/// Runs the operations of a program on an answer.
protocol Subject: AnyObject {
    associatedtype Model: SequentialModel

    func perform(_ operation: Model.Operation)
    var seen: Model.Seen { get }
    /// For the tables.
    var states: [(title: String, value: () -> String)] { get }
    /// Releases everything that the program has, and returns what is kept alive.
    func letGo() -> Fault?
}

/// What runs before the threads, on each of them, and after them.
struct SmallProgram<Model: SequentialModel>: Sendable {
    typealias Operation = Model.Operation

    var before: [Operation] = []
    var threads: [[Operation]]
    var after: [Operation] = []

    init(_ operations: [Operation]) {
        threads = [operations]
    }

    init(before: [Operation] = [], _ threads: [[Operation]], after: [Operation] = []) {
        self.before = before
        self.threads = threads
        self.after = after
    }

    /// Threads that do one of several things each, in every combination.
    static func meetings(
        before: [[Operation]] = [[]], _ threads: [[[Operation]]], after: [Operation] = []
    ) -> [SmallProgram] {
        before.flatMap { first in
            combinations(threads).map { SmallProgram(before: first, $0, after: after) }
        }
    }

    /// One thread that makes the call at each place among the other operations.
    static func with(_ call: Operation, anywhereIn operations: [Operation]) -> [SmallProgram] {
        (0...operations.count).map { place in
            SmallProgram(operations[..<place] + [call] + operations[place...])
        }
    }
}

/// One of the choices of each list, in every combination.
func combinations<Choice>(_ lists: [[Choice]]) -> [[Choice]] {
    lists.reduce([[]]) { all, choices in
        all.flatMap { some in choices.map { some + [$0] } }
    }
}

extension SmallProgram: CustomStringConvertible {
    var description: String {
        let text = { (operations: [Operation]) in
            let first = operations.count > 18 ? operations.prefix(9) : operations[...]
            let rest = first.count < operations.count ? ["… \(operations.count) in all"] : []
            return (first.map(\.description) + rest).joined(separator: "; ")
        }
        if threads.count == 1 { return text(threads[0]) }
        let meeting = zip("ABC", threads).map { "\($0): \(text($1))" }.joined(separator: " ∥ ")
        return [text(before), meeting, text(after)].filter { !$0.isEmpty }
            .joined(separator: ", then ")
    }
}

// MARK: What the model allows

extension SmallProgram {
    private struct Running: Hashable {
        var model: Model
        /// The last operation of each thread is the next.
        var threads: [[Operation]]
    }

    private static func ends(of threads: [[Operation]], from models: Set<Model>) -> Set<Model> {
        if threads.count == 1, models.count == 1, let end = end(of: threads[0], from: models.first!)
        {
            return [end]
        }
        var ends: Set<Model> = []
        var known: Set<Running> = []
        var open = models.map { Running(model: $0, threads: threads.map { $0.reversed() }) }
        while let running = open.popLast() {
            guard known.insert(running).inserted else { continue }
            if running.threads.allSatisfy(\.isEmpty) { ends.insert(running.model) }
            for thread in running.threads.indices {
                var rest = running
                guard let operation = rest.threads[thread].popLast() else { continue }
                open += running.model.after(operation).map { following in
                    var next = rest
                    next.model = following.model
                    next.threads[thread] += following.next.reversed()
                    return next
                }
            }
        }
        return ends
    }

    /// The only state in which one thread can end; `nil` if there are several.
    private static func end(of operations: [Operation], from model: Model) -> Model? {
        var (model, open) = (model, Array(operations.reversed()))
        while let operation = open.popLast() {
            let all = model.after(operation)
            guard all.count == 1 else { return nil }
            model = all[0].model
            open += all[0].next.reversed()
        }
        return model
    }

    /// What may be seen in the end.
    var ends: Set<Model.Seen> {
        let begun = SmallProgram.ends(of: [before], from: [Model()])
        let met = SmallProgram.ends(of: threads, from: begun)
        return Set(SmallProgram.ends(of: [after], from: met).map(\.seen))
    }

    /// What is wrong with what was seen after each operation of a program with one thread.
    func fault(_ seen: [Model.Seen]) -> Fault? {
        var models: Set<Model> = [Model()]
        for (index, operation) in threads[0].enumerated() {
            let all = SmallProgram.ends(of: [[operation]], from: models)
            models = all.filter { $0.seen == seen[index] }
            guard models.isEmpty else { continue }
            let rest = Array(threads[0].dropFirst(index + 1))
            let faults = all.flatMap { expected in
                SmallProgram.ends(of: [rest], from: [expected]).map { end in
                    Model.fault(
                        seen[index], insteadOf: expected.seen, end: (seen.last!, end.seen))
                }
            }
            // Only something is left, or always the same one of the others.
            let left = faults.first { ["kept alive", "left behind"].contains($0.reason) }
            return (left ?? faults.max { "\($0)" < "\($1)" }).map {
                about($0, "after `\(operation)`")
            }
        }
        return nil
    }

    /// What is wrong with what was seen in the end.
    func fault(_ seen: Model.Seen, allowed: Set<Model.Seen>) -> Fault? {
        if allowed.contains(seen) { return nil }
        let faults = allowed.map {
            Model.fault(seen, insteadOf: $0, end: (seen, $0))
        }
        return faults.min { "\($0)" < "\($1)" }.map { about($0, "in the end") }
    }

    func about(_ fault: Fault, _ when: String) -> Fault {
        Fault(fault.reason, "\(when), \(fault.detail). The program is \(self)")
    }
}

// MARK: Running the programs

extension Programs {
    /// Programs with one thread, which compare what is seen after each operation.
    static func inSequence<User: Subject>(
        _ all: [SmallProgram<User.Model>], watched: Int, remark: String = "",
        _ make: @escaping (SmallProgram<User.Model>) -> User
    ) -> Programs {
        var programs = Programs(count: all.count) {
            inSequence(all[$0], make).map { Fault($0.reason, $0.detail + remark) }
        }
        programs.watched = min(watched, all.count)
        programs.forbidsCallsUnderLocks = true
        return programs
    }

    private static func inSequence<User: Subject>(
        _ program: SmallProgram<User.Model>, _ make: (SmallProgram<User.Model>) -> User
    ) -> Fault? {
        withoutMainQueue {
            let user = make(program)
            let seen = program.threads[0].map { operation in
                user.perform(operation)
                return user.seen
            }
            return program.fault(seen) ?? user.letGo().map { program.about($0, "in the end") }
        }
    }

    /// Programs with several threads, which compare what is seen in the end.
    static func inThreads<User: Subject>(
        _ all: [SmallProgram<User.Model>], _ make: @escaping (SmallProgram<User.Model>) -> User
    ) -> Programs {
        let allowed = TakingTurns<[Int: Set<User.Model.Seen>]>([:])
        var programs = Programs(count: all.count) { number, scenario in
            let program = all[number]
            let user = make(program)
            let ends = allowed.access { $0[number] } ?? program.ends
            allowed.access { $0[number] = ends }
            for operation in program.before { user.perform(operation) }
            for (name, operations) in zip(["A", "B", "C"], program.threads) {
                scenario.thread(name) {
                    for operation in operations { user.perform(operation) }
                }
            }
            for state in user.states { scenario.state(state.title, state.value) }
            scenario.check {
                let fault = withoutMainQueue {
                    for operation in program.after { user.perform(operation) }
                    return program.fault(user.seen, allowed: ends)
                        ?? user.letGo().map { program.about($0, "in the end") }
                }
                if let fault { throw fault }
            }
        }
        programs.forbidsCallsUnderLocks = true
        programs.runs = 6_000
        return programs
    }
}

extension SmallProgram {
    /// Runs a program with very many operations. What is seen is compared in the end only.
    func runUnwatched<User: Subject>(_ user: User) throws where User.Model == Model {
        Patience.renew()
        for operation in threads[0] { user.perform(operation) }
        if let fault = fault(user.seen, allowed: ends) { throw fault }
    }
}

extension Requirement {
    /// Small programs on an answer.
    ///
    /// - Parameter question: for failures that have no question of their own in ``Questions``.
    static func programs<Answer>(
        _ id: String, _ name: String, _ story: String,
        asking question: String =
            "Run the program in your head: what does each of your properties hold after each call?",
        _ programs: @escaping @Sendable (Answer) -> Programs
    ) -> Requirement {
        Requirement(id: id, name: name, story: story, question: question) {
            .programs(programs($0 as! Answer))
        }.with(\.hasPrograms, true)
    }
}
