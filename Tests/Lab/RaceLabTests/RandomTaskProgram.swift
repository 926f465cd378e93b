import Models
import RaceLab
import Synchronization

/// A random program of tasks, for comparing two ways to explore it.
struct RandomTaskProgram: Sendable, CustomStringConvertible {
    enum Step: Sendable {
        case write(Int)
        case arrive(at: Int, Int)
        case note(Int)
        case yield
        case open(Int)
        case pass(Int)
        case poll(Int)
        case child(Int, isAwaited: Bool)
        case askAndNote(Int)
        case noteWithHandler(Int)
        case reenter(Int, Int)
    }

    let tasks: [[Step]]
    let children: [[Step]]
    /// Whether the second list is an actor on a queue.
    let hasQueue: Bool

    init(tasks: [[Step]], children: [[Step]]) {
        self.tasks = tasks
        self.children = children
        hasQueue = false
    }

    /// `polls`: tasks may yield until a gate is open.
    init(seed: UInt64, polls: Bool = false, hasQueue: Bool = false) {
        self.hasQueue = hasQueue
        var random = RandomNumbers(seed: seed)
        func steps(_ most: UInt64, mayStart: Bool) -> [Step] {
            (0...random.below(most)).map { _ in
                let number = 1 + random.below(9)
                let which = random.below(2)
                switch random.below(polls ? 11 : mayStart ? 10 : 9) {
                case 0: return .write(which)
                case 1, 2: return .arrive(at: which, number)
                case 3: return .note(number)
                case 4: return .yield
                case 5: return .open(which)
                case 6: return .pass(which)
                case 7: return .reenter(which, number)
                case 8: return number > 4 ? .askAndNote(number) : .noteWithHandler(number)
                case 10: return .poll(which)
                default: return mayStart ? .child(which, isAwaited: number > 4) : .yield
                }
            }
        }
        children = [steps(2, mayStart: false), steps(2, mayStart: false)]
        tasks = (0...1 + random.below(2)).map { _ in steps(3, mayStart: true) }
    }

    var description: String {
        let queue = hasQueue ? ", list 1 on a queue" : ""
        return "\(tasks.map { "\($0)" }.joined(separator: "\n"))\nchildren \(children)\(queue)"
    }

    @Sendable func describe(_ scenario: Scenario) {
        let world = World(children: children, hasQueue: hasQueue)
        for (index, steps) in tasks.enumerated() {
            scenario.task("task \(Character(Unicode.Scalar(UInt8(97 + index))))") {
                await world.perform(steps)
            }
        }
        scenario.outcome { world.text }
    }
}

/// What the tasks of such a program share.
private final class World: @unchecked Sendable {
    private let children: [[RandomTaskProgram.Step]]
    private let lists: [any Listing]
    private let gates = [Gate(), Gate()]
    private let notes = Protected()
    private let seen = Protected()
    private var first = 0, second = 0

    init(children: [[RandomTaskProgram.Step]], hasQueue: Bool) {
        self.children = children
        lists = [List(), hasQueue ? QueuedList() : List()]
    }

    var text: String { "\(notes.text) \(seen.text)" }

    func perform(_ steps: [RandomTaskProgram.Step]) async {
        for step in steps { await perform(step) }
    }

    private func perform(_ step: RandomTaskProgram.Step) async {
        switch step {
        case .write(0): first += 1
        case .write: second += 1
        case .arrive(let list, let number): seen.add(await lists[list].add(number))
        case .reenter(let list, let number): seen.add(await lists[list].addTwice(number))
        case .note(let number): notes.add(number)
        case .yield: await Task.yield()
        case .open(let gate): gates[gate].open()
        case .pass(let gate): await gates[gate].pass()
        case .poll(let gate): while !gates[gate].isOpen { await Task.yield() }
        case .askAndNote(let number): notes.add(Task.isCancelled ? -number : number)
        case .noteWithHandler(let number):
            await withTaskCancellationHandler {
                notes.add(number)
            } onCancel: {
                notes.add(-number)
            }
        case .child(let number, let isAwaited):
            let task = Task { await perform(children[number]) }
            if isAwaited { await task.value } else { task.cancel() }
        }
    }
}

/// An actor whose result shows the order of the calls.
private protocol Listing: Actor {
    var sum: Int { get set }
}

private actor List: Listing {
    var sum = 0
}

private actor QueuedList: Listing {
    var sum = 0
    private let executor = QueueExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

extension Listing {
    func add(_ number: Int) -> Int {
        sum = (sum * 10 + number) % 1000
        return sum
    }

    func addTwice(_ number: Int) async -> Int {
        _ = add(number)
        await Task.yield()
        return add(number)
    }
}

/// A gate that opens once; until then, tasks that want to pass wait.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock(\.isOpen) }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
