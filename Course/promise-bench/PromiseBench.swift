import CPromiseBench
import Foundation

@main
enum PromiseBench {
    static func main() {
        let words = Set(CommandLine.arguments.dropFirst())
        if words.contains("--help") || words.contains("-h") { return print(help) }
        if let unknown = words.subtracting(["--json", "--quick"]).first {
            refuse("unknown argument '\(unknown)' (see promise-bench --help)")
        }
        #if DEBUG
            refuse("a debug build has nothing to measure: swift run -c release promise-bench")
        #else
            measure(words)
        #endif
    }

    private static func refuse(_ why: String) -> Never {
        FileHandle.standardError.write(Data("promise-bench: \(why)\n".utf8))
        exit(2)
    }

    private static func measure(_ words: Set<String>) {
        // Must come before the first thread is started: threads inherit the processor.
        let pinned = promise_bench_use_one_processor()
        var results = Results(pinned: pinned)
        for workload in Workload.workloads {
            results.times += Measure.times(workload, quick: words.contains("--quick"))
        }
        results.memory = Measure.memory()
        print(words.contains("--json") ? results.json : results.table)
    }

    private static let help = """
        promise-bench measures what a promise costs, compared with Grand Central Dispatch doing the
        same work without promises.

        usage: swift run -c release promise-bench            a table; takes about a minute
               swift run -c release promise-bench --json     the same, for other tools
               swift run -c release promise-bench --quick    one repetition, to check that it works

        W1, W2, W3   a fulfilled promise with one, two, three `then`s on a serial queue, until
                     the last of them has run; 10,000 times
        W4           10,000 pending promises with one `then` each on a concurrent queue: fulfill
                     all, and wait until all have run
        W5           settle a chain of 1,000 whose handlers run on the settling thread
        chain        the same with a chain of 1,000,000
        on a queue   settle a chain with each handler dispatched to a serial queue
        all          fulfill 10,000 promises, until `all` of them is fulfilled

        Each figure is the median of several repetitions, in which the contenders take turns, on
        one processor if the system allows that (Linux). The factor after it compares the figure
        with GCD alone in the same run.

        Stages 1 and 2 have no dispatchers: in W1 to W3, their whole chain is one block on the
        queue. A `then` of Task/await is a task that awaits the one before, on Swift's thread pool.
        """
}
