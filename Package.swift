// swift-tools-version: 6.2
import PackageDescription

// `Mutex` is inlined into the code that uses it, as atomic instructions. With this
// setting the compiler emits them as function calls instead, which is how the lab
// can watch a lock without a change to the source. Debug builds only; no sanitizer
// runtime is linked, and release builds know nothing of it.
let visibleAtomics: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))
]

let package = Package(
    name: "AWPromise",
    platforms: [.macOS("26.0")],
    targets: [
        // The three stages. They know nobody.
        .target(name: "Stage1Naive", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage2Handlers", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage3ThreadSafe", swiftSettings: visibleAtomics),

        // The interleaving explorer, of use for any Swift code.
        .target(name: "CRaceLab"),
        .target(name: "RaceLab", dependencies: ["CRaceLab"]),
        .testTarget(name: "RaceLabTests", dependencies: ["RaceLab", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe"], swiftSettings: visibleAtomics),
        .testTarget(
            name: "Stage3ThreadSafeTests", dependencies: ["Stage3ThreadSafe", "RaceLab"],
            swiftSettings: visibleAtomics),
    ]
)
