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
        // Before the first thread is started, so that all of them stay together.
        let pinned = promise_bench_use_one_processor()
        var results = Results(pinned: pinned)
        for workload in Workload.workloads {
            results.times += Measure.times(workload, quick: words.contains("--quick"))
        }
        results.memory = Measure.memory()
        print(words.contains("--json") ? results.json : results.table)
    }

    private static let help = """
        promise-bench measures what a promise costs, against what Grand Central Dispatch takes for
        the same without any promise.

        usage: swift run -c release promise-bench            a table; takes about a minute
               swift run -c release promise-bench --json     the same, for programs
               swift run -c release promise-bench --quick    one repetition: to see that it works

        W1, W2, W3   a fulfilled promise with one, two, three `then`s on a serial queue, until
                     the last of them has run; 10,000 times
        W4           10,000 pending promises with one `then` each on a concurrent queue: fulfill
                     all, and wait until all have run
        W5           settle a chain of 1,000 whose handlers run where the promise is settled
        chain        the same with a chain of 1,000,000
        on a queue   settle a chain whose handlers run on a serial queue, each by itself
        all          fulfill 10,000 promises, until `all` of them is fulfilled

        Each figure is the median of several repetitions, in which the contenders take turns, on
        one processor where the system allows that (Linux); behind it, how many times as long as
        GCD alone in the same run.

        Stage 1 and 2 know no queues: in W1 to W3 their whole chain is one block on the queue, so
        they go there once. A `then` of Task/await is a task that awaits the one before, on Swift's
        pool.
        """
}
