/// What a model predicts for a program.
package struct Prediction {
    /// The possible outcomes, including "deadlock".
    package let outcomes: Set<String>
    /// Whether it has a data race; contains both values if the model cannot tell.
    package let races: Set<Bool>

    package static let deadlock = "deadlock"
}

extension Prediction {
    package init(_ program: RandomQueueProgram) {
        let model = QueueModel(program)
        // A time-out creates no happens-before edge, nor does an attempt that fails.
        let races = [model.hasRace, QueueModel(program, isLoose: true).hasRace]
        self.init(outcomes: model.outcomes, races: Set(races))
    }
}
