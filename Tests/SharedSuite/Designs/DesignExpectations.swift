extension Design {
    /// What is documented of the design; the reasons are in `Sources/FieldGuide/README.md`.
    func expectation(_ id: String) -> Expectation {
        guard Design.covered.contains(id) else {
            return .cannotExpress("it is about operators, which the miniature leaves out")
        }
        return failures[id] ?? .survives
    }

    private static let covered: Set<String> = Set(
        (1...17).map { $0 < 10 ? "H0\($0)" : "H\($0)" }
            + (1...12).map { $0 < 10 ? "R0\($0)" : "R\($0)" } + ["R18", "C01"])

    private var failures: [String: Expectation] {
        switch self {
        case .bolts:
            [
                // Whoever registers within a callback finds the task completed, and calls at once.
                "H08": .fails(.outOfOrder),
                "H10": .fails(.tooEarly),
                "H11": .fails(.waitsForEver),
                // Each callback holds the task that holds it, until the task is completed. That is
                // also why a pending chain survives H12 when it is dropped: it is never freed.
                "H14": .fails(.keptAlive),
                "H15": .fails(.silence),
                "R09": .fails(.deadlock),
                "R10": .fails(.deadlock),
                "C01": .fails(.refused),
            ]
        case .promiseKit:
            [
                "H08": .fails(.outOfOrder),
                "H12": .fails(.stackOverflow),
                "H15": .fails(.silence),
                "R06": .fails(.outOfOrder),
                "C01": .fails(.refused),
            ]
        case .google:
            [
                "H11": .fails(.waitsForEver),
                "H12": .fails(.stackOverflow),
                "H15": .fails(.silence),
                "C01": .fails(.refused),
            ]
        }
    }
}
