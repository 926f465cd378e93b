import Graders

// Compiled together with an answer to exercise 14.

final class TheAnswer: SequenceLockAnswer {
    func pair() -> Pair {
        let lock = SequenceLock()
        return Pair(write: { lock.write($0, $1) }, read: { lock.read() })
    }
}
