import CRaceLab

/// Identifies a finding: runs with equal keys show the same finding and are counted together.
///
/// Looking up places in the source is slow, so the key of a race holds an address for each line.
enum FindingKey: Hashable, Sendable {
    case said(Exploration.Finding.Kind, String)
    /// Two accesses, in an order that does not depend on which came first. `isKnown`: atomic
    /// operations lie between them, but their memory orderings are too weak to order the accesses.
    case race(first: Access, second: Access, overlap: Bool, isKnown: Bool)

    static func race(_ accesses: [Access], overlap: Bool, isKnown: Bool) -> FindingKey {
        let inOrder = accesses.sorted { $0.pc < $1.pc }
        return .race(first: inOrder[0], second: inOrder[1], overlap: overlap, isKnown: isKnown)
    }

    var kind: Exploration.Finding.Kind {
        switch self {
        case .said(let kind, _): kind
        case .race(_, _, let overlap, _): overlap ? .overlap : .dataRace
        }
    }

    /// Every overlapping modification is also a data race. Returns it as one if data races count as
    /// failures and overlaps do not.
    func counted(by kinds: Set<Exploration.Finding.Kind>) -> FindingKey {
        guard kind == .overlap, !kinds.contains(.overlap), kinds.contains(.dataRace)
        else { return self }
        switch self {
        case .said(_, let reason): return .said(.dataRace, reason)
        case .race(let first, let second, _, let isKnown):
            return .race(first: first, second: second, overlap: false, isKnown: isKnown)
        }
    }

    var reason: String {
        switch self {
        case .said(_, let reason):
            return reason
        case .race(let first, let second, let overlap, let isKnown):
            let sites = Symbols.sites(of: [first, second])
            let places = [first, second].map { Exploration.Site.name(sites[$0.pc]) }
            if !overlap {
                let atomics = isKnown ? ": the atomic operations between them are too weak" : ""
                return "nothing orders \(places[0]) and \(places[1])\(atomics)"
            }
            return places[0] == places[1]
                ? "both threads can be in the middle of \(places[0])"
                : "one thread can be in the middle of \(places[0]), "
                    + "another in the middle of \(places[1])"
        }
    }
}

/// Another process has other addresses, so it gets the places of a race as words.
extension FindingKey: Codable {
    private struct Words: Codable {
        let kind: Exploration.Finding.Kind
        let reason: String
    }

    init(from decoder: any Decoder) throws {
        let words = try Words(from: decoder)
        self = .said(words.kind, words.reason)
    }

    func encode(to encoder: any Encoder) throws {
        try Words(kind: kind, reason: reason).encode(to: encoder)
    }
}

/// A read or a modification, by its address in the program.
struct Access: Hashable, Sendable {
    let pc: UInt
    let modifies: Bool
}

extension Symbols {
    static func sites(of accesses: [Access]) -> [UInt: Exploration.Site] {
        sites(of: accesses.map(\.pc), modifying: Set(accesses.filter(\.modifies).map(\.pc)))
    }

    /// The sites of all steps except notes, which have none.
    static func sites(of steps: some Sequence<rl_step>) -> [UInt: Exploration.Site] {
        sites(
            of: steps.filter { $0.kind != RL_NOTE.rawValue }
                .map { Access(pc: UInt($0.pc), modifies: $0.kind == RL_MODIFY.rawValue) })
    }
}

extension Exploration.Site {
    /// The place, as messages name it.
    static func name(_ site: Exploration.Site?) -> String {
        site.map { "\($0.file):\($0.line)" } ?? "code without debug information"
    }
}
