// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The workbook is a separate package: a file that does not compile breaks nothing outside this
// folder, and an editor that opens this folder can resolve every file. Each exercise is a module,
// because most of them define a class of the same name. The grader does not need this package: it
// compiles an answer by itself, together with the code that runs it.
// `promise-lab exercise 2 --start` adds the file of an exercise.
let all = (1...14).map { $0 < 10 ? "Exercise0\($0)" : "Exercise\($0)" }
let names = all.filter {
    FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/Workbook/\($0).swift")
}
let usingStage3 = all[7...10]

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
            exclude: ["README.md"] + names.filter { $0 != name }.map { "\($0).swift" },
            sources: ["\(name).swift"],
            swiftSettings: [.swiftLanguageMode(.v5)])
    }
)
