import Stage1Naive

// The same code for every stage and step: only the first line of this file changes from one to the
// next. SameCodeTests.swift compiles it with each of them.

/// A chain that is fulfilled, and one that is rejected.
func order(_ quantity: Int, _ report: @escaping @Sendable (String) -> Void) {
    struct OutOfStock: Error {}
    let order = AWPromise<Int> { resolve, reject in
        quantity < 10 ? resolve(quantity) : reject(OutOfStock())
    }
    order
        .then { $0 * 5 }
        .then { total in
            guard total > 0 else { throw OutOfStock() }
            return "\(total) euros"
        }
        .then { report($0) }
        .error { report("\(type(of: $0))") }
}
