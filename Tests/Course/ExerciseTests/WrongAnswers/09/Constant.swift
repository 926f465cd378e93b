// Rejected: E09.1 too early
// No promise wins, and the outcome is settled at once. (Cheats.)

import Stage3ThreadSafe

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    .rejected(OperatorError.noPromises)
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    .rejected(OperatorError.timedOut)
}
