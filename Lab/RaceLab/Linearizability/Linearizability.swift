/// Looks for a small program whose results no sequential order of its operations explains.
///
/// A class is *linearizable* if each of its operations appears to take effect at one moment between
/// its call and its return. Then a single thread that calls the same operations in some order, one
/// after another, could get the same results (Herlihy and Wing 1990).
///
/// ```swift
/// let stacks = Linearizability(
///     of: { Stack<Int>() }, model: [Int](),
///     operations: [
///         .init("push(1)", { $0.push(1) }, model: { $0.append(1) }),
///         .init("pop()", { $0.pop() }, model: { $0.popLast() }),
///     ])
/// let result = stacks.explore()
/// #expect(result.isLinearizable, "\(result)")
/// ```
///
/// The model is a value: a plain array, dictionary or number, changed by one thread at a time. An
/// operation that throws has the error as its result. Operations must not wait for one another, as
/// `take()` on an empty buffer does: a model cannot express that, and a program in which only such
/// an operation is left is reported as a deadlock.
public struct Linearizability<Subject, Model> {
    /// An operation on the class under test, and the same operation on its model.
    public struct Operation {
        let name: String
        let perform: (Subject) -> OperationResult
        let model: (inout Model) -> OperationResult

        /// An operation that returns a value. The two results are compared with `==`.
        ///
        /// `perform` runs on a thread of the scenario, or on a thread of the lab before the threads
        /// begin; `model` runs on a thread of the lab, many times for each interleaving.
        public init<Value: Equatable>(
            _ name: String, _ perform: @escaping (Subject) throws -> Value,
            model: @escaping (inout Model) throws -> Value
        ) {
            self.name = name
            self.perform = { subject in OperationResult { try perform(subject) } }
            self.model = { state in OperationResult { try model(&state) } }
        }

        /// An operation that returns nothing.
        public init(
            _ name: String, _ perform: @escaping (Subject) throws -> Void,
            model: @escaping (inout Model) throws -> Void
        ) {
            let perform = { (subject: Subject) throws in
                try perform(subject)
                return Nothing()
            }
            self.init(name, perform) { state in
                try model(&state)
                return Nothing()
            }
        }
    }

    let make: () -> Subject
    let model: Model
    let operations: [Operation]

    /// The maximum number of operations in a program, including those that run before the threads
    /// begin. With three operations to choose from there are 61 programs of up to three, 406 of up
    /// to four and 2,224 of up to five.
    public var maximumOperations = 4
    /// The maximum number of threads in a program.
    public var maximumThreads = 3

    /// - Parameters:
    ///   - make: makes the object for one run. Called on a thread of the lab.
    ///   - model: the model of a new object.
    ///   - operations: the operations that threads call. Give different arguments to two of them if
    ///     it matters which one took effect.
    public init(of make: @escaping () -> Subject, model: Model, operations: [Operation]) {
        self.make = make
        self.model = model
        self.operations = operations
    }

    /// Explores small programs, the smallest first: two to ``maximumThreads`` threads with a few
    /// operations each, and possibly a few operations before the threads begin. It stops at the
    /// first program with a failure: results that no order of the operations explains, or another
    /// finding, such as a data race or a deadlock.
    ///
    /// `options` apply to each program. A program is explored up to its first failure.
    public func explore(
        options: Exploration.Options = Exploration.Options()
    ) -> Result {
        var options = options
        options.stopsAtFirstFailure = true
        var result = Result()
        for program in SmallProgram.all(
            operations: operations.count, upTo: maximumOperations, threads: maximumThreads)
        {
            result.add(
                RaceLab.explore(options: options, scenario(of: program)), of: text(of: program))
            if result.failure != nil { break }
        }
        return result
    }

    /// The scenario of a program: each thread logs the beginning and the end of its operations, and
    /// the check searches for a sequential order.
    private func scenario(of program: SmallProgram) -> (Scenario) -> Void {
        { [make, model, operations] scenario in
            let subject = make()
            let history = Scenario.Log<Event>()
            func perform(_ numbers: [Int], on thread: Int?) {
                for number in numbers {
                    let operation = operations[number]
                    history.append(.begins(thread: thread), "begins \(operation.name)")
                    let result = operation.perform(subject)
                    history.append(
                        .ends(thread: thread, operation: number, result),
                        "\(operation.name) returns \(result)")
                }
            }
            perform(program.before, on: nil)
            for (thread, numbers) in program.threads.enumerated() {
                scenario.thread(SmallProgram.threadName(thread)) { perform(numbers, on: thread) }
            }
            scenario.check {
                let history = History(history.entries)
                guard !history.isExplained(from: model, by: operations.map(\.model)) else { return }
                throw Scenario.CheckFailure(
                    "no order of the operations explains the results: "
                        + history.text(operations.map(\.name)))
            }
        }
    }

    /// The program as text, such as `push(1), then A: pop() ∥ B: pop()`.
    private func text(of program: SmallProgram) -> String {
        let names = { (calls: [Int]) in
            calls.map { operations[$0].name }.joined(separator: "; ")
        }
        let threads = program.threads.enumerated()
            .map { "\(SmallProgram.threadName($0)): \(names($1))" }.joined(separator: " ∥ ")
        return program.before.isEmpty ? threads : "\(names(program.before)), then \(threads)"
    }
}

extension Linearizability {
    /// The result of exploring many small programs.
    public struct Result: CustomStringConvertible {
        /// The smallest program that fails.
        public struct Failure {
            /// What each thread calls, such as `push(1), then A: pop() ∥ B: pop()`.
            public let program: String
            /// The exploration of the program, with the interleaving that fails.
            public let exploration: Exploration
        }

        /// The smallest program that fails, if one does.
        public private(set) var failure: Failure?
        /// The number of programs explored.
        public private(set) var programs = 0
        /// The number of their interleavings.
        public private(set) var interleavings = 0
        /// The first program without a verdict, and the reason.
        public private(set) var inconclusive: (program: String, reason: String)?

        /// Whether every interleaving of every program has been explored, and none fails.
        public var isLinearizable: Bool { failure == nil && inconclusive == nil && programs > 0 }

        mutating func add(_ exploration: Exploration, of program: String) {
            programs += 1
            interleavings += exploration.explored
            if exploration.failing > 0 {
                failure = Failure(program: program, exploration: exploration)
            } else if !exploration.survives, inconclusive == nil {
                let reason =
                    exploration.inconclusive?.description ?? "explored: \(exploration.coverage)"
                inconclusive = (program, reason)
            }
        }

        public var description: String {
            let explored =
                "\(programs) program\(programs == 1 ? "" : "s") with \(interleavings) interleavings"
            if let failure {
                let table = (try? failure.exploration.counterexample())?.table()
                return """
                    not linearizable: \(failure.program)
                    \(failure.exploration.findings.first.map(String.init) ?? "")

                    \(table ?? "")
                    """
            }
            if let inconclusive {
                return "inconclusive: \(inconclusive.program): \(inconclusive.reason)"
            }
            return programs == 0 ? "inconclusive: no operations" : "linearizable in \(explored)"
        }
    }
}
