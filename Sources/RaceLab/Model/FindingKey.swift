import CRaceLab

/// What is wrong with a run, and what is counted as one and the same finding.
///
/// Places in the source take long to look up, so they are looked up only for ``reason``: counting
/// needs none.
enum FindingKey: Hashable, Sendable {
    case said(Exploration.Finding.Kind, String)
    /// Two accesses, in an order that does not depend on who came first.
    /// `isKnown`: atomic operations lie between them, but none whose memory ordering orders them.
    case race(first: Access, second: Access, overlap: Bool, isKnown: Bool)

    var kind: Exploration.Finding.Kind {
        switch self {
        case .said(let kind, _): kind
        case .race(_, _, let overlap, _): overlap ? .overlap : .dataRace
        }
    }

    /// The same as a data race, where overlapping modifications do not count as failures: each of
    /// them is a data race.
    func counted(by kinds: Set<Exploration.Finding.Kind>) -> FindingKey {
        guard kind == .overlap, kinds.isDisjoint(with: [.overlap]), kinds.contains(.dataRace)
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

/// Where something is read or modified, as an address in the program.
struct Access: Hashable, Sendable {
    let pc: UInt
    let modifies: Bool
}

extension Symbols {
    static func sites(of accesses: [Access]) -> [UInt: Exploration.Site] {
        sites(of: accesses.map(\.pc), modifying: Set(accesses.filter(\.modifies).map(\.pc)))
    }

    /// Of all steps that have a place: a note has none.
    static func sites(of steps: some Sequence<rl_step>) -> [UInt: Exploration.Site] {
        sites(
            of: steps.filter { $0.kind != RL_NOTE.rawValue }
                .map { Access(pc: UInt($0.pc), modifies: $0.kind == RL_MODIFY.rawValue) })
    }
}

extension Exploration.Site {
    /// A place in a sentence.
    static func name(_ site: Exploration.Site?) -> String {
        guard let site else { return "code without debug information" }
        return "\(site.file):\(site.line)"
    }
}
