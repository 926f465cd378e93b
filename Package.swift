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
    products: [
        .library(name: "RaceLab", targets: ["RaceLab"]),
        .executable(name: "promise-lab", targets: ["promise-lab"]),
    ],
    targets: [
        // The three stages. They know nobody.
        .target(name: "Stage1Naive", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage2Handlers", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage3ThreadSafe", swiftSettings: visibleAtomics),

        // The interleaving explorer, of use for any Swift code.
        .target(name: "CRaceLab"),
        .target(
            name: "RaceLab", dependencies: ["CRaceLab"], exclude: ["Classics", "JSON.md"]),

        // The hazards: one catalogue for the tests, the command and the graders.
        .target(
            name: "SharedSuite",
            dependencies: ["RaceLab", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe"],
            path: "Tests/SharedSuite"),
        .executableTarget(name: "promise-lab", dependencies: ["RaceLab", "SharedSuite"]),

        // The tests: each stage against the catalogue, then the lab itself.
        .target(
            name: "StageTesting", dependencies: ["RaceLab", "SharedSuite"],
            path: "Tests/StageTesting"),
        .testTarget(
            name: "Stage1NaiveTests", dependencies: ["SharedSuite", "Stage1Naive", "StageTesting"]),
        .testTarget(
            name: "Stage2HandlersTests",
            dependencies: ["SharedSuite", "Stage2Handlers", "StageTesting"]),
        .testTarget(
            name: "Stage3ThreadSafeTests",
            dependencies: ["RaceLab", "SharedSuite", "Stage3ThreadSafe", "StageTesting"],
            swiftSettings: visibleAtomics),
        // What the documents say, and what the command prints.
        .testTarget(
            name: "DocumentationTests", dependencies: ["RaceLab", "SharedSuite", "promise-lab"],
            swiftSettings: visibleAtomics),
        .testTarget(
            name: "RaceLabTests",
            dependencies: [
                "RaceLab", "CRaceLab", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe",
            ],
            swiftSettings: visibleAtomics),
    ]
)
