import CRaceLab
import Canaries
import RaceLabTesting
import Testing

@testable import RaceLab

/// The tiny programs from which the lab learns what it observes. A fault that disables the entry
/// points of a family must make its canary fail, and must cost a program that uses the family its
/// verdict.
@Suite("What the lab observes", .needsTheLab)
struct CanaryTests {
    @Test("with this toolchain, everything is observed")
    func all() {
        let families = Exploration.families()
        #expect(families.map(\.name) == Family.allCases.map(\.rawValue))
        for family in families { #expect(family.isObserved, "\(family.name): \(family)") }
    }

    @Test("there is a canary for each family, in the order of the table")
    func complete() {
        #expect(Canary.all.map(\.family) == Family.allCases)
    }

    @Test("a child process tells its parent, whose next child does not try again")
    func children() async {
        await #expect(processExitsWith: .success) {
            let canary = Canary.all[0]
            #expect(explore(options: .isolated, canary.describe).inconclusive == nil)
            #expect(Families.state.withLock { $0.known } != nil)
        }
    }

    @Test("a family whose entry points do nothing gives no verdict, and takes no other's")
    func disabled() async {
        await #expect(processExitsWith: .success) {
            for canary in Canary.all where canary.family.entryPoints != RL_COUNTS {
                rl_disable_family(canary.family.entryPoints, RL_FAMILY_DOES_NOTHING)
                let family = Exploration.families().first { $0.name == canary.family.rawValue }
                #expect(family?.isObserved == false, "\(canary.family)")
                let own = explore(canary.describe).inconclusive
                #expect(own?.isNotObserved == true, "\(canary.family): \(String(describing: own))")
                for other in Canary.all where !other.needs(canary.family) {
                    let result = explore(other.describe)
                    #expect(result.inconclusive == nil, "\(canary.family), \(other.family)")
                    #expect(Set(result.outcomes.keys) == other.expected.outcomes)
                }
                rl_disable_family(canary.family.entryPoints, RL_FAMILY_WORKS)
                Families.forget()
            }
        }
    }

    @Test("if the program does not even call the entry points, nothing has a verdict")
    func bypassed() async {
        await #expect(processExitsWith: .success) {
            for canary in Canary.all {
                rl_disable_family(canary.family.entryPoints, RL_FAMILY_IS_BYPASSED)
                let inconclusive = explore(canary.describe).inconclusive
                #expect(inconclusive?.isNotObserved == true, "\(canary.family)")
                #expect("\(String(describing: inconclusive))".contains("doctor"))
                rl_disable_family(canary.family.entryPoints, RL_FAMILY_WORKS)
                Families.forget()
            }
        }
    }
}

extension Families {
    fileprivate static func forget() {
        state.withLock { $0 = State() }
        for family in Canaries.Family.allCases { rl_is_blind_to(family.use, nil) }
        rl_distrust_counts(false)
    }
}

extension Canary {
    /// Whether the program uses the entry points of a family.
    fileprivate func needs(_ other: Family) -> Bool {
        switch other.entryPoints {
        case RL_ACCESSES: true
        case RL_LASTING_ACCESSES: true
        case RL_ATOMICS: [RL_ATOMICS, RL_FENCES].contains(family.entryPoints)
        case RL_TASKS, RL_ACTORS, RL_STREAMS:
            [RL_TASKS, RL_ACTORS, RL_STREAMS].contains(family.entryPoints)
        default: family.entryPoints == other.entryPoints
        }
    }
}

extension Exploration.Inconclusive {
    fileprivate var isNotObserved: Bool {
        if case .notObserved = self { true } else { false }
    }
}
