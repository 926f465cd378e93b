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
        .library(name: "Stage3ThreadSafe", targets: ["Stage3ThreadSafe"]),
        .executable(name: "promise-lab", targets: ["promise-lab"]),
        .executable(name: "promise-bench", targets: ["promise-bench"]),
    ],
    targets: [
        // The three stages. They know nobody.
        .target(name: "Stage1Naive", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage2Handlers", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage3ThreadSafe", swiftSettings: visibleAtomics),

        // The designs of three well-known libraries, in miniature. They know nobody either.
        .target(
            name: "FieldGuide", exclude: ["README.md"], swiftSettings: [.swiftLanguageMode(.v5)]),

        // The interleaving explorer, of use for any Swift code.
        .target(name: "CRaceLab"),
        .target(
            name: "RaceLab", dependencies: ["CRaceLab"], exclude: ["Classics", "JSON.md"]),

        // The hazards: one catalogue for the tests, the command and the graders.
        .target(
            name: "SharedSuite",
            dependencies: [
                "FieldGuide", "RaceLab", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe",
            ],
            path: "Tests/SharedSuite"),
        .executableTarget(
            name: "promise-lab",
            dependencies: ["Graders", "HTTPExample", "RaceLab", "SharedSuite"],
            // An answer to an exercise is loaded as a library, and refers to the program's symbols.
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--export-dynamic"], .when(platforms: [.linux]))
            ]),

        // The classroom: what judges the answers to the exercises. Stubs and adapters are compiled
        // when an answer is.
        .target(
            name: "Graders", dependencies: ["RaceLab", "SharedSuite", "Stage3ThreadSafe"],
            exclude: ["Adapters", "Stubs", "Variants"]),

        // The article's own example, and a server for it. (Stage 2 lets itself be shared.)
        .target(name: "LoopbackServer", path: "Examples/HTTP/LoopbackServer"),
        .target(
            name: "HTTPExample",
            dependencies: ["LoopbackServer", "Stage2Handlers", "Stage3ThreadSafe"],
            path: "Examples/HTTP/HTTPExample", swiftSettings: [.swiftLanguageMode(.v5)]),

        // What the stages cost. `Stage3Copied` is Stage 3's own sources, by symbolic link, and a
        // part of the benchmark compiled together with them.
        .target(name: "CPromiseBench"),
        .target(name: "Stage3Copied"),
        .executableTarget(
            name: "promise-bench",
            dependencies: ["CPromiseBench", "Stage1Naive", "Stage2Handlers", "Stage3Copied"],
            swiftSettings: [.swiftLanguageMode(.v5), .define("STAGE_3_IS_IMPORTED")]),

        // The tests: each subject against the catalogue, then the operators, then the lab itself.
        .target(name: "StageTesting", dependencies: ["RaceLab"], path: "Tests/StageTesting"),
        .testTarget(
            name: "SubjectTests",
            dependencies: ["FieldGuide", "RaceLab", "SharedSuite", "Stage1Naive", "StageTesting"]),
        .testTarget(
            name: "Stage3ThreadSafeTests",
            dependencies: ["RaceLab", "SharedSuite", "Stage3ThreadSafe", "StageTesting"],
            swiftSettings: visibleAtomics),
        .testTarget(name: "HTTPExampleTests", dependencies: ["HTTPExample", "LoopbackServer"]),
        .testTarget(
            name: "ExerciseTests", dependencies: ["Graders", "StageTesting", "promise-lab"],
            exclude: ["WrongAnswers"]),
        // What the documents say, and what the command prints.
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["Graders", "RaceLab", "SharedSuite", "StageTesting", "promise-lab"],
            swiftSettings: visibleAtomics),
        .testTarget(
            name: "RaceLabTests",
            dependencies: [
                "RaceLab", "CRaceLab", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe",
                "StageTesting",
            ],
            swiftSettings: visibleAtomics),
    ]
)
