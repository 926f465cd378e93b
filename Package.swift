// swift-tools-version: 6.2
import PackageDescription

// The compiler inlines `Mutex` as atomic instructions into the code that uses it. With this
// setting it emits function calls instead, so the lab can observe a lock without a change to
// the source. For debug builds only; no sanitizer runtime is linked, and release builds are
// not affected.
let visibleAtomics: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))
]

// In a release build, modules that use these may specialize their generic code. Without this
// setting, generic code takes two to four times as long there.
let specialized: [SwiftSetting] = [
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
]

// The lab is optimized in a debug build, too: it is of use in no other. Its engine walks over the
// stack, so it keeps all frames. It also has to see the registers that a called function preserves
// as the code under test left them. So registers are allocated as without optimization.
//
// The compiler works on small batches of files. Otherwise it often leaves a processor idle.
let optimizedLab: [SwiftSetting] = [
    .unsafeFlags(["-O", "-driver-batch-size-limit", "12"], .when(configuration: .debug))
]
let optimizedEngine: [CSetting] = [
    .unsafeFlags(
        [
            "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-strict-aliasing",
            "-mllvm", "-regalloc=fast", "-mllvm", "-optimize-regalloc=0",
        ], .when(platforms: [.linux], configuration: .debug))
]

// The steps from Stage 2 to Stage 3.
let steps = [
    "StepAOneLock", "StepBCallOutside", "StepCThirdPhase", "StepDCallbackQueue",
    "StepEDispatchers",
]

let package = Package(
    name: "AWPromise",
    platforms: [.macOS("15.0")],
    products: [
        .library(name: "RaceLab", targets: ["RaceLab"]),
        .library(name: "RaceLabTesting", targets: ["RaceLabTesting"]),
        .library(name: "LabPage", targets: ["LabPage"]),
        .library(name: "Stage3ThreadSafe", targets: ["Stage3ThreadSafe"]),
        .library(name: "PromiseOperators", targets: ["PromiseOperators"]),
        .executable(name: "promise-lab", targets: ["promise-lab"]),
        .executable(name: "promise-bench", targets: ["promise-bench"]),
    ],
    targets: [
        // The three stages, and the operators of the third. They depend on nothing else.
        .target(name: "Stage1Naive", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage2Handlers", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Stage3ThreadSafe", swiftSettings: visibleAtomics + specialized),
        .target(
            name: "PromiseOperators", dependencies: ["Stage3ThreadSafe"],
            exclude: ["Operators.md"],
            swiftSettings: visibleAtomics + specialized),

        // Miniature versions of the designs of three well-known libraries.
        .target(
            name: "FieldGuide", exclude: ["README.md"], swiftSettings: [.swiftLanguageMode(.v5)]),

        // The lab, which explores interleavings of any Swift code.
        .target(name: "CRaceLab", cSettings: [.headerSearchPath(".")] + optimizedEngine),
        .target(
            name: "RaceLab", dependencies: ["CRaceLab"], exclude: ["Classics"],
            swiftSettings: optimizedLab),

        // Turns an exploration that fails into a test issue with its counterexample. Linked into
        // tests only.
        .target(name: "RaceLabTesting", dependencies: ["RaceLab"]),

        // The page for stepping through an exploration, and its files.
        .target(
            name: "LabPage", dependencies: ["LabPageResources", "RaceLab"], exclude: ["Resources"]),
        .target(
            name: "LabPageResources", path: "Sources/LabPage/Resources",
            exclude: [
                "page.html", "page.css", "model.js", "drawing.js", "map.js", "race.js",
                "matrix.js", "pictures.js", "page.js",
            ]),

        // The hazards: one catalogue for the tests, the command and the graders.
        .target(
            name: "SharedSuite",
            dependencies: [
                "FieldGuide", "PromiseOperators", "RaceLab", "Stage1Naive", "Stage2Handlers",
                "Stage3ThreadSafe",
            ] + steps.map { Target.Dependency(stringLiteral: $0) },
            path: "Tests/SharedSuite"),
        .executableTarget(
            name: "promise-lab",
            dependencies: ["Graders", "HTTPExample", "LabPage", "RaceLab", "SharedSuite"],
            // An answer to an exercise is loaded as a library, and refers to the program's symbols.
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--export-dynamic"], .when(platforms: [.linux]))
            ]),

        // The classroom, which grades answers to the exercises. The stubs and adapters are
        // excluded: the grader compiles them.
        .target(
            name: "Graders", dependencies: ["PromiseOperators", "RaceLab", "SharedSuite"],
            exclude: ["Adapters", "Stubs", "Variants"]),

        // The article's example, and a server for it. (The Swift 5 mode lets them share Stage 2.)
        .target(
            name: "HTTPExample", dependencies: ["PromiseOperators", "Stage2Handlers"],
            path: "Examples/HTTP", swiftSettings: [.swiftLanguageMode(.v5)]),

        // The small examples of the Tutorial.
        .executableTarget(
            name: "tutorial", dependencies: ["PromiseOperators", "RaceLab"],
            path: "Examples/Tutorial", swiftSettings: visibleAtomics),

        // Measures the stages. In a debug build Stage 3 calls ThreadSanitizer's runtime, because
        // the lab is not linked.
        .target(
            name: "CPromiseBench",
            cSettings: [.unsafeFlags(["-fsanitize=thread"], .when(configuration: .debug))]),
        .executableTarget(
            name: "promise-bench",
            dependencies: ["CPromiseBench", "PromiseOperators", "Stage1Naive", "Stage2Handlers"],
            swiftSettings: [.swiftLanguageMode(.v5)],
            linkerSettings: [.unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))]),

        // The tests of the promises: each subject against the catalogue, and the operators.
        .testTarget(
            name: "SubjectTests",
            dependencies: [
                "FieldGuide", "PromiseOperators", "RaceLab", "RaceLabTesting", "SharedSuite",
                "Stage1Naive", "promise-lab",
            ],
            swiftSettings: visibleAtomics),
        .testTarget(
            name: "ExerciseTests",
            dependencies: ["Graders", "RaceLabTesting", "SharedSuite", "promise-lab"],
            exclude: ["WrongAnswers"]),
        // What people read: the documents, the output of the command, and the page, in a browser
        // where one is installed.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Graders", "HTTPExample", "LabPage", "RaceLab", "RaceLabTesting", "SharedSuite",
                "promise-lab", "tutorial",
            ],
            swiftSettings: visibleAtomics),
        .testTarget(
            name: "RaceLabTests",
            dependencies: [
                "RaceLab", "CRaceLab", "PromiseOperators", "RaceLabTesting", "SharedSuite",
                "Stage1Naive", "Stage2Handlers",
            ],
            swiftSettings: visibleAtomics),
    ]
        + steps.map {
            .target(name: $0, path: "Sources/Steps/\($0)", swiftSettings: visibleAtomics)
        }
)
