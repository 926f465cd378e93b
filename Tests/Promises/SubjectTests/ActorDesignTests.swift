import Foundation
import SharedSuite
import Testing

/// The actors of the field guide. Their target uses the Swift 5 language mode because of the other
/// designs.
@Suite("The actors of the field guide")
struct ActorDesignTests {
    private static let path = "Sources/FieldGuide/ActorStyle.swift"

    @Test("the Swift 6 language mode accepts the actors, and rejects the same code as classes")
    func compiler() throws {
        let file = Commands.package.appending(path: Self.path)
        #expect(try Commands.complaintsOfTheCompiler([file], mode: "6") == "")
        let classes = FileManager.default.temporaryDirectory
            .appending(path: "ActorStyle-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: classes) }
        try String(contentsOf: file, encoding: .utf8)
            .replacing("public actor", with: "public final class")
            .replacing(": Actor", with: ": AnyObject, Sendable")
            .write(to: classes, atomically: true, encoding: .utf8)
        let complaints = try Commands.complaintsOfTheCompiler([classes], mode: "6")
        #expect(complaints.contains("class 'ActorStyle' is mutable"))
        #expect(complaints.contains("class 'RepairedActor' is mutable"))
    }
}
