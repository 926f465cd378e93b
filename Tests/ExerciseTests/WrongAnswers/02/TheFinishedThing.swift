// Rejected: refused
// Stage 3, and a wrapping around it.

import Stage3ThreadSafe

public typealias AWPromise = Stage3ThreadSafe.AWPromise
