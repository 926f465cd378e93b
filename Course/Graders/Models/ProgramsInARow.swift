import Foundation
import Synchronization

/// Runs programs without the lab, one after another, on a thread of their own, which another thread
/// watches. It ends with the first fault.
final class ProgramsInARow: Sendable {
    /// What the watching thread sees every two seconds.
    struct Look {
        /// The program that runs, if it also ran at the look before; each program only once.
        var slow: Int?
        /// Whether the programs have hardly used the processor since the look before the last one.
        var onlyWaits: Bool
    }

    private struct Progress {
        var number: Int
        var fault: Fault?
        var isToStop = false
    }

    private struct Earlier {
        var number = -1
        var slow: Set<Int> = []
        var worked = clock()
        var idleLooks = 0
    }

    private let progress: Mutex<Progress>
    private let earlier = Mutex(Earlier())
    private let ended = DispatchSemaphore(value: 0)
    private let isWaitedFor = DispatchSemaphore(value: 0)

    init(_ numbers: Range<Int>, _ run: @escaping (Int) -> Fault?) {
        progress = Mutex(Progress(number: numbers.lowerBound))
        nonisolated(unsafe) let run = run
        let thread = Thread { [self] in
            isWaitedFor.wait()
            while number < numbers.upperBound, !progress.withLock(\.isToStop) {
                Patience.begin(program: number)
                let fault = run(number)
                progress.withLock {
                    if fault == nil { $0.number += 1 }
                    $0.fault = fault
                }
                if fault != nil { break }
            }
            ended.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// The program that runs or has failed, or the first that has not run.
    var number: Int { progress.withLock(\.number) }
    var fault: Fault? { progress.withLock(\.fault) }

    /// No program begins after the one that runs.
    func stop() { progress.withLock { $0.isToStop = true } }

    /// Waits for two seconds. The programs begin when this is first called. Otherwise both threads
    /// would allocate memory at the same time.
    ///
    /// - Returns: `nil` if the programs have ended.
    func nextLook() -> Look? {
        isWaitedFor.signal()
        guard ended.wait(timeout: .now() + .seconds(2)) == .timedOut else { return nil }
        let number = number
        return earlier.withLock {
            let worked = clock()
            $0.idleLooks = worked - $0.worked < CLOCKS_PER_SEC / 50 ? $0.idleLooks + 1 : 0
            let isSlow = number == $0.number && $0.slow.insert(number).inserted
            ($0.worked, $0.number) = (worked, number)
            return Look(slow: isSlow ? number : nil, onlyWaits: $0.idleLooks >= 2)
        }
    }
}
