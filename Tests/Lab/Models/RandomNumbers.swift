/// Numbers that are the same on every machine: a linear congruential generator (Knuth).
package struct RandomNumbers {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    package mutating func below(_ bound: UInt64) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % bound)
    }

    package mutating func isOneOf(_ count: UInt64) -> Bool { below(count) == 0 }
}
