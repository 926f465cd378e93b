// swift-tools-version: 6.2
import PackageDescription

// The lab, by its folder or, if this is set, by its repository and version.
let repository = Context.environment["AWPROMISE_REPOSITORY"]
let lab: Package.Dependency =
    if let repository {
        .package(url: repository, from: "1.0.0")
    } else {
        .package(name: "AWPromise", path: "../../..")
    }

// A package that tests its own classes with the lab. Each class has a different kind of bug, which
// its test finds: these tests fail, as Tests/Course/DocumentationTests/AdoptionTests.swift expects.
let package = Package(
    name: "Adoption",
    platforms: [.macOS("15.0")],
    dependencies: [lab],
    targets: [
        .target(
            name: "Shop",
            // For its atomics: the compiler emits them as function calls, which the lab can control.
            swiftSettings: [.unsafeFlags(["-sanitize=thread"], .when(configuration: .debug))]),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop",
                .product(name: "RaceLab", package: "AWPromise"),
                .product(name: "RaceLabTesting", package: "AWPromise"),
            ]),
    ]
)
