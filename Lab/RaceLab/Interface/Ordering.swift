import CRaceLab

extension Exploration {
    /// The memory ordering of an atomic operation or a fence of the code under test. The package
    /// uses it to find out which orderings the code needs: see ``Options/instead``.
    package struct Ordering: Hashable, Codable, Sendable {
        package enum Strength: Int, Codable, CaseIterable, Sendable {
            case relaxed = 0
            case acquiring = 2, releasing, acquiringAndReleasing, sequentiallyConsistent

            /// The weaker ones, the weakest first.
            package var weaker: [Strength] {
                Strength.allCases.filter { $0.rawValue < rawValue }
                    .filter { self != .releasing || $0 != .acquiring }
            }
        }

        private let pc: UInt
        private let kind: Int32
        package private(set) var strength: Strength

        /// Returns `nil` for an ordering that Swift does not have.
        init?(_ ordering: rl_ordering) {
            guard let strength = Strength(rawValue: Int(ordering.order)) else { return nil }
            pc = UInt(ordering.pc)
            kind = ordering.kind
            self.strength = strength
        }

        package var isOfFence: Bool { Int(kind) == RL_OF_FENCE }

        package var site: Site? { Symbols.sites(of: [pc])[pc] }

        /// Another ordering at the same place.
        package func with(_ strength: Strength) -> Ordering {
            var other = self
            other.strength = strength
            return other
        }

        var ofEngine: rl_ordering {
            rl_ordering(pc: pc, kind: kind, order: Int32(strength.rawValue))
        }
    }

    /// The memory orderings that the code under test uses, in the order of their first use: at most
    /// `RL_MAX_ORDERINGS`.
    package var orderings: [Ordering] { result.orderings }
}
