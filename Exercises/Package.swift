// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The workbook is a separate package: a file that does not compile breaks nothing outside this
// folder, and an editor that opens this folder can resolve every file. Each exercise is a module,
// because most of them define a class of the same name. The grader does not need this package: it
// compiles an answer by itself, together with the code that runs it.
// `promise-lab exercise 2 --start` adds the file of an exercise. Each exercise has a target before it is
// started: SwiftPM remembers what this file said, and would not notice new files. It warns of those that
// are missing.
let names = try FileManager.default.contentsOfDirectory(
    atPath: "\(Context.packageDirectory)/../Course/Graders/Stubs"
).filter { $0.wholeMatch(of: /Exercise\d\d\.swift/) != nil }
    .map { String($0.dropLast(".swift".count)) }.sorted()
let usingStage3 = ["Exercise08", "Exercise09", "Exercise10", "Exercise11"]

let package = Package(
    name: "Exercises",
    platforms: [.macOS("15.0")],
    dependencies: [.package(name: "AWPromise", path: "..")],
    targets: names.map { name in
        .target(
            name: name,
            dependencies: usingStage3.contains(name)
                ? [.product(name: "PromiseOperators", package: "AWPromise")] : [],
            path: "Workbook",
            exclude: ["README.md"],
            sources: ["\(name).swift"],
            swiftSettings: [.swiftLanguageMode(.v5)])
    }
)
