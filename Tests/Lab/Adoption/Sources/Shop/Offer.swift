import Synchronization

/// A memory ordering that is too weak: a relaxed store does not publish what was written before it.
public final class Offer: @unchecked Sendable {
    private var text = ""
    private let isPublished = Atomic(false)

    public init() {}

    public func publish(_ text: String) {
        self.text = text
        isPublished.store(true, ordering: .relaxed)
    }

    public var current: String? {
        isPublished.load(ordering: .relaxed) ? text : nil
    }
}
