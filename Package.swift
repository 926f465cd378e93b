// swift-tools-version: 6.2
import PackageDescription

// Three families: promises, the lab that explores their interleavings, and the course that puts
// the two together. Promises know nothing of the lab, and the lab knows nothing of promises.

// The compiler inlines `Mutex` as atomic instructions into the code that uses it. With this
// setting it emits function calls instead, so the lab can observe a lock without a change to
// the source. For debug builds only; no sanitizer runtime is linked, and release builds are
// not affected.
let visibleAtomics: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))
]

// MARK: - Promises

// In a release build, modules that use these may specialize their generic code. Without this
// setting, generic code takes two to four times as long there.
let specialized: [SwiftSetting] = [
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
]
let swift5: [SwiftSetting] = [.swiftLanguageMode(.v5)]

// The steps from Stage 2 to Stage 3.
let steps = [
    "StepAOneLock", "StepBCallOutside", "StepCThirdPhase", "StepDCallbackQueue",
    "StepEDispatchers",
]
let stepTargets: [Target] = steps.map { step in
    .target(name: step, path: "Sources/Steps/\(step)", swiftSettings: visibleAtomics)
}

let promises: [Target] = [
    // The three stages, and the operators of the third. They depend on nothing else.
    .target(name: "Stage1Naive", swiftSettings: swift5),
    .target(name: "Stage2Handlers", swiftSettings: swift5),
    .target(name: "Stage3ThreadSafe", swiftSettings: visibleAtomics + specialized),
    .target(
        name: "PromiseOperators", dependencies: ["Stage3ThreadSafe"],
        exclude: ["Operators.md"],
        swiftSettings: visibleAtomics + specialized),

    // Miniature versions of the designs of three well-known libraries.
    .target(name: "FieldGuide", exclude: ["README.md"], swiftSettings: swift5),
]

// MARK: - The lab

// The lab is optimized in a debug build, too: it is of use in no other. Its engine walks over the
// stack, so it keeps all frames.
//
// The compiler works on small batches of files. Otherwise it often leaves a processor idle.
let optimizedLab: [SwiftSetting] = [
    .unsafeFlags(["-O", "-driver-batch-size-limit", "12"], .when(configuration: .debug))
]
let optimizedEngine: CSetting = .unsafeFlags(
    ["-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-strict-aliasing"],
    .when(platforms: [.linux], configuration: .debug))

// A point has to see the registers that a called function preserves as the code under test left
// them. So the functions between the two allocate registers as without optimization.
let untouchedRegisters: CSetting = .unsafeFlags(
    ["-mllvm", "-regalloc=fast", "-mllvm", "-optimize-regalloc=0"],
    .when(platforms: [.linux], configuration: .debug))

let lab: [Target] = [
    // The lab, which explores interleavings of any Swift code.
    .target(
        name: "CRaceLab", dependencies: ["CRaceLabPrimitives"], path: "Lab/CRaceLab",
        exclude: ["Primitives"], cSettings: [.headerSearchPath("."), optimizedEngine]),
    .target(
        name: "CRaceLabPrimitives", path: "Lab/CRaceLab/Primitives",
        cSettings: [
            .headerSearchPath(".."), .headerSearchPath("../include"), optimizedEngine,
            untouchedRegisters,
        ]),
    // Tiny programs, compiled like code under test, from which the lab learns what it observes with
    // the installed toolchain.
    .target(name: "Canaries", path: "Lab/Canaries", swiftSettings: visibleAtomics),
    .target(
        name: "RaceLab", dependencies: ["CRaceLab", "Canaries"], path: "Lab/RaceLab",
        exclude: ["Classics"],
        swiftSettings: optimizedLab),

    // Turns an exploration that fails into a test issue with its counterexample. Linked into
    // tests only.
    .target(name: "RaceLabTesting", dependencies: ["RaceLab"], path: "Lab/RaceLabTesting"),

    // The page for stepping through an exploration, and its files.
    .target(
        name: "LabPage", dependencies: ["LabPageResources", "RaceLab"], path: "Lab/LabPage",
        exclude: ["Resources"], swiftSettings: optimizedLab),
    .target(
        name: "LabPageResources", path: "Lab/LabPage/Resources",
        exclude: [
            "page.html", "page.css", "drawing.js", "words.js", "model.js", "path.js", "map.js",
            "table.js", "race.js", "view.js", "page.js",
        ]),

    // Models of what the lab explores, with which its tests compare it. They run no thread.
    .target(
        name: "Models", dependencies: ["CRaceLab", "RaceLab"], path: "Tests/Lab/Models",
        swiftSettings: optimizedLab),
    .testTarget(
        name: "RaceLabTests",
        dependencies: [
            "Canaries", "CRaceLab", "Models", "PromiseOperators", "RaceLab", "RaceLabTesting",
            "SharedSuite", "Stage1Naive", "Stage2Handlers",
        ],
        path: "Tests/Lab/RaceLabTests", swiftSettings: visibleAtomics),
]

// MARK: - The course

let stages: [Target.Dependency] = [
    "FieldGuide", "PromiseOperators", "Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe",
]

let course: [Target] = [
    // The hazards: one catalogue for the tests, the command and the graders.
    .target(
        name: "SharedSuite",
        dependencies: stages + ["RaceLab"] + steps.map { step in .target(name: step) },
        path: "Tests/SharedSuite"),
    .executableTarget(
        name: "promise-lab",
        dependencies: [
            "Graders", "LabPage", "PromiseOperators", "RaceLab", "SharedSuite", "Stage2Handlers",
            "TutorialExamples",
        ],
        path: "Course/promise-lab",
        // An answer to an exercise is loaded as a library, and refers to the program's symbols.
        linkerSettings: [
            .unsafeFlags(["-Xlinker", "--export-dynamic"], .when(platforms: [.linux]))
        ]),

    // The classroom, which grades answers to the exercises. The stubs and adapters are
    // excluded: the grader compiles them.
    .target(
        name: "Graders", dependencies: ["CRaceLab", "PromiseOperators", "RaceLab", "SharedSuite"],
        path: "Course/Graders", exclude: ["Adapters", "Stubs", "Variants"],
        // The lab must see the answer's accesses to memory, and not those of the programs.
        swiftSettings: optimizedLab + [.unsafeFlags(["-enforce-exclusivity=unchecked"])]),

    // The small examples of the Tutorial. The page shows two of them.
    .target(
        name: "TutorialExamples", dependencies: ["PromiseOperators", "RaceLab", "Stage1Naive"],
        path: "Course/Examples/Tutorial", swiftSettings: visibleAtomics),
    .executableTarget(
        name: "tutorial", dependencies: ["TutorialExamples"], path: "Course/tutorial"),

    // Measures the stages. In a debug build Stage 3 calls ThreadSanitizer's runtime, because
    // the lab is not linked.
    .target(
        name: "CPromiseBench", path: "Course/CPromiseBench",
        cSettings: [.unsafeFlags(["-fsanitize=thread"], .when(configuration: .debug))]),
    .executableTarget(
        name: "promise-bench",
        dependencies: ["CPromiseBench", "PromiseOperators", "Stage1Naive", "Stage2Handlers"],
        path: "Course/promise-bench",
        swiftSettings: swift5,
        linkerSettings: [.unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))]),

    // The tests of the promises: each subject against the catalogue, and the operators.
    .testTarget(
        name: "SubjectTests",
        dependencies: [
            "FieldGuide", "PromiseOperators", "RaceLab", "RaceLabTesting", "SharedSuite",
            "Stage1Naive", "promise-lab",
        ],
        path: "Tests/Promises/SubjectTests", swiftSettings: visibleAtomics),
    .testTarget(
        name: "ExerciseTests",
        dependencies: ["Graders", "RaceLabTesting", "SharedSuite", "promise-lab"],
        path: "Tests/Course/ExerciseTests", exclude: ["RightAnswers", "WrongAnswers"]),
    // What people read: the documents, the output of the command, and the page, in a browser
    // where one is installed.
    .testTarget(
        name: "DocumentationTests",
        dependencies: [
            "Graders", "LabPage", "RaceLab", "RaceLabTesting", "SharedSuite", "promise-lab",
            "tutorial",
        ],
        path: "Tests/Course/DocumentationTests", swiftSettings: visibleAtomics),
]

// MARK: - The package

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
    targets: promises + stepTargets + lab + course
)
