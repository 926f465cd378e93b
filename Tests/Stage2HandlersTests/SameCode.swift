import Stage2Handlers
import Testing

// The same piece of code for all stages: from one to the next only the first line of this file
// changes, and a test of the documentation sees to that.

/// A chain that ends well, and one that does not.
private func order(_ quantity: Int, _ report: @escaping @Sendable (String) -> Void) {
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

@Test("the same code on every stage") func sameCode() async {
    for (quantity, expected) in [(2, "10 euros"), (12, "OutOfStock"), (0, "OutOfStock")] {
        let reported = await withCheckedContinuation { continuation in
            order(quantity) { continuation.resume(returning: $0) }
        }
        #expect(reported == expected)
    }
}
