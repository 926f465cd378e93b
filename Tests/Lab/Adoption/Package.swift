// swift-tools-version: 6.2
import PackageDescription

// A package that tests its own classes with the lab. Each class has a different kind of bug, which
// its test finds: these tests fail, as Tests/Course/DocumentationTests/AdoptionTests.swift expects.
let package = Package(
    name: "Adoption",
    platforms: [.macOS("15.0")],
    dependencies: [.package(name: "AWPromise", path: "../../..")],
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
