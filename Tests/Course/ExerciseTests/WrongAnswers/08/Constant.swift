// Rejected: E08.1 too early
// The answer for an empty list, for every list. (Cheats.)

import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    .fulfilled([])
}
