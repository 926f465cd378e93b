import Stage1Naive
import Stage2Handlers
import Stage3ThreadSafe

typealias Naive = Stage1Naive.AWPromise<Int>
typealias Handlers = Stage2Handlers.AWPromise<Int>
typealias ThreadSafe = Stage3ThreadSafe.AWPromise<Int>
