/// Every hazard, in the order of the matrix.
public enum Catalogue {
    /// The hazards that need one thread.
    public static let oneThread: [any Hazard] = [
        H01(), H02(), H03(), H04(), H05(), H06(), H07(), H08(), H09(), H10(), H11(), H12(), H13(),
        H14(), H15(), H16(), H17(), H18(), H19(),
    ]

    /// The hazards that need several threads, explored by the lab.
    public static let races: [any Race] = [
        R01(), R02(), R03(), R04(), R05(), R06(), R07(), R08(), R09(), R10(), R11(), R12(), R14(),
        R15(), R16(), R17(), R18(), R19(), R20(), R21(), R22(),
    ]

    /// The hazards that only the compiler checks.
    public static let compiler: [any Hazard] = [C01()]

    /// The parts of the matrix.
    public static let groups: [(title: String, hazards: [any Hazard])] = [
        ("One thread", oneThread),
        ("Several threads, every interleaving", races),
        ("The compiler", compiler),
    ]

    public static let all: [any Hazard] = groups.flatMap(\.hazards)

    public static func hazard(_ id: String) -> (any Hazard)? {
        all.first { $0.id == id.uppercased() }
    }
}
