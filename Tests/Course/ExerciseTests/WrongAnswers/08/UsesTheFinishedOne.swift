// Rejected: refused
// Uses the operator of Stage 3, spelled in an unusual way. (Cheats.)

import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    typealias List = AWPromise<[Value]>
    let finished: ([AWPromise<Value>]) -> List = List.`all`
    return finished(promises)
}
