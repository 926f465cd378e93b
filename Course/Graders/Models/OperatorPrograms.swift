extension SmallProgram<OperatorModel> {
    /// How many promises it uses. They are numbered from 0.
    var promises: Int {
        let all = ([before] + threads + [after]).flatMap { $0 }
        return (all.flatMap(\.promises).max() ?? -1) + 1
    }
}

extension OperatorModel.Operation {
    fileprivate var promises: [Int] {
        switch self {
        case .call(let call, let inside): call.promises + inside.flatMap(\.promises)
        case .settle(let promise, _): [promise]
        default: []
        }
    }
}

/// The small programs for exercises 8 to 10.
enum OperatorPrograms {
    typealias Program = SmallProgram<OperatorModel>
    typealias Operation = OperatorModel.Operation

    /// All ways to settle the promises of a list in this order.
    private static func settling(_ order: [Int]) -> [[Operation]] {
        combinations(
            order.map { [.settle($0, .fulfill($0 + 1)), .settle($0, .reject($0 + 1))] })
    }

    private static func fulfilling(_ order: [Int]) -> [Operation] {
        order.map { .settle($0, .fulfill($0 + 1)) }
    }

    private static func shortestFirst(_ programs: [Program]) -> [Program] {
        programs.sorted { $0.threads[0].count < $1.threads[0].count }
    }

    /// For other types of values; with `Void`, all values are equal.
    static func ofValues(_ calls: [OperatorModel.Call]) -> [Program] {
        calls.flatMap { call in
            let settled = (Set(call.promises).sorted()).map {
                Operation.settle($0, .fulfill(1))
            }
            return [settled, [.settle(0, .reject(1))]].flatMap {
                Program.with(.call(call), anywhereIn: $0)
            }
        }
    }

    // MARK: Exercise 8

    static let all: [Program] = {
        let lists = [[], [0], [0, 0], [0, 0, 0], [0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 2]]
        var all = lists.flatMap { list in
            Settling.orders(ofAll: Set(list).count).flatMap(settling).flatMap {
                Program.with(.call(.all(list)), anywhereIn: $0)
            }
        }
        for second in [[0, 1], [1, 0], [1], []] {
            for operations in [[0, 1], [1, 0]].flatMap(settling) {
                all += Program.with(
                    .call(.all(second)), anywhereIn: [.call(.all([0, 1]))] + operations)
            }
        }
        let inside =
            [[], [1], [2], [1, 2]].flatMap(settling)
            + [[.call(.all([0, 0]))], [.call(.all([1, 0]))]]
        for inside in inside {
            all += settling([0]).map { Program([.call(.all([0, 1, 2]), inside: inside)] + $0) }
            all += settling([0]).map { Program([.call(.all([0]), inside: inside)] + $0) }
        }
        // Up to two of four promises in five places, and all of them.
        let five = Operation.call(.all([0, 1, 2, 0, 3]))
        let longer = Settling.orders(4, upTo: 2).flatMap(settling).flatMap {
            Program.with(five, anywhereIn: $0)
        }
        let dropped: [Operation] = [
            .call(.all([0, 1])), .settle(0, .fulfill(1)), .drop(0), .settle(1, .fulfill(2)),
        ]
        return shortestFirst(all) + longer
            + [Program([five] + fulfilling([3, 1, 0, 2])), Program(dropped)]
    }()

    /// An observer of the outcome waits for the thread that does not call it.
    private static func waiting(
        _ call: OperatorModel.Call, _ first: [[Operation]], _ second: [[Operation]]
    ) -> [Program] {
        Program.meetings(
            before: [[.call(call, inside: [.wait])]],
            [first.map { $0 + [.signal] }, second.map { $0 + [.signal] }])
    }

    /// Very many promises, and as many lists of one of them.
    static let manyOfAll: [Program] = {
        let all = Array(0..<Bounds.squared)
        let (list, half) = (Operation.call(.all(all)), Array(all.prefix(all.count / 2)))
        let reject = { (promise: Int) in Operation.settle(promise, .reject(promise)) }
        return [
            Program([list] + fulfilling(all)), Program([list] + fulfilling(all.reversed())),
            Program(fulfilling(all) + [list]),
            Program([list] + fulfilling(all.dropLast()) + [reject(all.last!)]),
            Program(all.map { _ in .call(.all([0])) } + fulfilling([0])),
            Program([.call(.all(half + half))] + fulfilling(half)),
            Program([reject(all.last!), reject(half.last!), list]),
        ] + [0, half.last!, all.last!].map { Program([list, reject($0)]) }
    }()

    static let allInThreads: [Program] = {
        let (two, other) = (Operation.call(.all([0, 1])), Operation.call(.all([1, 0])))
        var all = Program.meetings(
            before: [[two], [.call(.all([0, 1, 0]))], [two, other]],
            [settling([0]), settling([1])])
        let others = settling([0]) + settling([1]) + settling([0, 1]) + settling([1, 0])
        all += Program.meetings([[[two]], others])
        all += Program.meetings(before: settling([1]), [[[two], [other]], settling([0])])
        all += Program.meetings([[[two]], settling([0]), settling([1])])
        all += Program.meetings([[[two]], [[other]]], after: fulfilling([0, 1]))
        all += Program.meetings(
            before: [[.call(.all([0, 1, 2]))]],
            [[fulfilling([0])], settling([1]), [fulfilling([2]), [.settle(2, .reject(3))]]])
        return all + waiting(.all([0, 1]), settling([0]), settling([1]))
    }()

    // MARK: Exercise 9

    private static let second = Duration.seconds(1)

    static let races: [Program] = {
        let lists = [[], [0], [0, 0], [0, 1], [1, 0], [0, 1, 0], [0, 1, 2], [0, 1, 2, 3, 4]]
        var all = lists.flatMap { list in
            Settling.orders(Set(list).count, upTo: 2).flatMap(settling).flatMap {
                Program.with(.call(.winner(list)), anywhereIn: $0)
            }
        }
        for operations in [[0], [1], [0, 1], [1, 0]].flatMap(settling) {
            all += Program.with(
                .call(.winner([1, 2])), anywhereIn: [.call(.winner([0, 1]))] + operations)
        }
        let inside = [[0], [2], [0, 2]].flatMap(settling) + [[.call(.winner([2, 1]))]]
        for inside in inside {
            all += settling([1]).map { Program([.call(.winner([0, 1, 2]), inside: inside)] + $0) }
        }
        return shortestFirst(all)
    }()

    static let limits: [Program] = {
        let moment = Duration.nanoseconds(1)
        var all: [Program] = []
        for limit in Bounds.durations {
            let call = Operation.call(.limit(0, limit))
            let early: [Operation] = limit > .zero ? [.advance(limit - moment)] : []
            for settling in settling([0]) {
                all += [
                    Program(settling + [call, .advance(limit)]),
                    Program([call] + early + settling + [.advance(limit)]),
                    Program([.advance(limit), call] + early + [.advance(moment)] + settling),
                    Program([call, .call(.limit(0, limit + second))] + early + settling),
                ]
            }
        }
        let inside = [.advance(.seconds(5))] + settling([0])[0]
        for ending in settling([0]) + [[.advance(second)]] {
            all.append(Program([.call(.limit(0, second), inside: inside)] + ending))
        }
        all.append(Program([.call(.limit(0, .seconds(-1))), .advance(.zero)]))
        for limit in Bounds.durations {
            let call = Operation.call(.limit(0, .zero - limit))
            all += settling([0]).map { Program($0 + [call, .advance(.zero)]) }
        }
        return all
    }()

    static let neverSettled = [
        Program([.call(.winner([0]))]), Program([.call(.winner([0, 1, 0]))]),
        Program([.call(.winner([0, 1])), .call(.winner([1, 2]))]),
    ]

    static let racesInThreads: [Program] = {
        let (race, other) = (Operation.call(.winner([0, 1])), Operation.call(.winner([1, 0])))
        let (limit, time) = (Operation.call(.limit(0, second)), [Operation.advance(second)])
        var all = Program.meetings(
            before: [[race], [.call(.winner([2, 0, 1]))], [race, other]],
            [settling([0]), settling([1])])
        all += Program.meetings([
            [[race], [.call(.winner([2, 0, 1, 3]))]], settling([0]) + settling([0, 1]),
        ])
        all += Program.meetings([[[race]], settling([0]), settling([1])])
        all += Program.meetings(before: [[limit]], [[time], settling([0])])
        all += Program.meetings([[[limit]], settling([0]) + settling([0]).map { $0 + time }])
        all += Program.meetings(before: settling([0]), [[[limit]], [time]])
        all += Program.meetings([[[limit]], [time]], after: time)
        return all + waiting(.winner([0, 1]), settling([0]), settling([1]))
            + waiting(.limit(0, second), settling([0]), [time])
    }()

    // MARK: Exercise 10

    /// When and how an attempt ends.
    private struct Ending {
        enum Kind {
            case atOnce, later, thrown
        }

        let kind: Kind
        var settling = Settling.reject(1)
    }

    private static func retrying(
        _ attempts: Int, _ endings: [Ending], _ delays: [Duration]
    ) -> Program {
        var (before, after, works): ([Operation], [Operation], [OperatorModel.Retries.Work]) =
            ([], [], [])
        for (promise, ending) in endings.enumerated() {
            var settling = ending.settling
            // Each failure has an error of its own.
            if settling == .reject(1) { settling = .reject(10 + promise) }
            let settle = Operation.settle(promise, settling)
            switch (ending.kind, settling) {
            case (.thrown, .reject(let error)): works.append(.failure(error))
            case (.later, _):
                works.append(.promise(promise))
                after += [.advance(.seconds(2)), settle]
            default:
                works.append(.promise(promise))
                before.append(settle)
            }
            after.append(.advance(delays.isEmpty ? .zero : delays[promise]))
        }
        let call = Operation.call(
            .retry(.init(attempts: attempts, works: works, delays: delays)))
        return Program(before + [call] + after + [.advance(.seconds(100))])
    }

    static let retries: [Program] = {
        let failures = [Ending(kind: .atOnce), Ending(kind: .later), Ending(kind: .thrown)]
        let ends = [Settling.fulfill(1), .reject(Settling.hopeless)].flatMap { end in
            failures.map { Ending(kind: $0.kind, settling: end) }
        }.filter { $0.kind != .thrown || $0.settling != .fulfill(1) }
        var all: [Program] = []
        var unlimited: [Program] = []
        var begun: [[Ending]] = [[]]
        for count in 1...3 {
            for delays in [[], [.seconds(3), .seconds(1), .seconds(7)]] as [[Duration]] {
                for endings in begun {
                    all += (failures + ends).map { retrying(count, endings + [$0], delays) }
                    unlimited += ends.map { retrying(.max, endings + [$0], delays) }
                }
            }
            begun = begun.flatMap { endings in failures.map { endings + [$0] } }
        }
        for failure in failures {
            all += [0, -1, .min].map { retrying($0, [failure], []) }
            for delays in [Bounds.durations.reversed(), Array(Bounds.durations.dropFirst())] {
                let endings = Array(repeating: failure, count: delays.count)
                all.append(retrying(delays.count, endings, delays))
            }
        }
        // The same promise for each attempt, and two retries with one clock.
        let works: [OperatorModel.Retries.Work] = [.promise(0), .promise(0), .promise(1)]
        let call = Operation.call(.retry(.init(attempts: 3, works: works, delays: [])))
        all += Program.with(call, anywhereIn: [call] + settling([0, 1])[2]).map {
            Program($0.threads[0] + [.advance(second), .advance(second)])
        }
        return all + unlimited
    }()

    static let retriesInThreads: [Program] = {
        let call = { (delay: Duration, attempts: Int) -> [Operation] in
            let works = (0..<3).map { OperatorModel.Retries.Work.promise($0) }
            let delays = Array(repeating: delay, count: 3)
            return [.call(.retry(.init(attempts: attempts, works: works, delays: delays)))]
        }
        let fail = { (promise: Int) in Operation.settle(promise, .reject(promise + 1)) }
        let hopeless = Operation.settle(0, .reject(Settling.hopeless))
        let time = [Operation.advance(second)]
        let rest = time + time + time
        var all = Program.meetings(
            before: [fulfilling([1]), [fail(1)] + fulfilling([2])],
            [
                [call(.zero, 3)],
                [[fail(0)], [fail(0), .advance(.zero)], [hopeless], fulfilling([0])],
            ], after: rest)
        all += Program.meetings(
            before: [fulfilling([1]) + call(second, 2)], [[time], [[fail(0)], [hopeless]]],
            after: rest)
        all += Program.meetings(
            before: [[fail(0)] + fulfilling([2]) + call(second, 3)], [[time], [[fail(1)]]],
            after: rest)
        // A handler begins an attempt, while another thread ends it.
        let first = [call(.zero, 3)]
        all += Program.meetings(
            before: first, [[[fail(0)]], [[fail(1)], fulfilling([1])]],
            after: rest + fulfilling([2]))
        all += Program.meetings(
            [first, [[fail(0)]], [[fail(1)]]], after: rest + fulfilling([2]))
        return all
    }()
}
