// Rejected: refused
// A wrapper around the promise of Stage 3.

import Stage3ThreadSafe

public typealias AWPromise = Stage3ThreadSafe.AWPromise
