import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import Graders

/// The processes that an answer starts end with it, and an interrupted grader leaves no files.
@Suite("Cleanup after grading", .needsTheLabElsewhere)
struct IsolationTests {
    private let folder = TemporaryFolder()

    @Test(
        "a background process is killed, whether its parent ends or is killed",
        arguments: [
            ("sleep 1000 & exit 7", Child.Ending.status(7)),
            ("sleep 1000 & sleep 1000", .tookTooLong),
            ("(sleep 1000 & sleep 1000) & kill -SEGV $$", .signal(SIGSEGV)),
        ])
    func grandchildren(script: String, ending: Child.Ending) throws {
        // Each process inherits one end of the pipe. Reading ends when all of them have ended.
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let ended = Child.run(
            URL(filePath: "/bin/sh"), ["-c", script], output: folder.url.appending(path: "printed"),
            atMost: .seconds(1))
        #expect(ended == ending)
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    #if os(Linux)

        @Test("a process that computes makes progress, however long it takes")
        func computing() throws {
            let ended = Child.run(
                URL(filePath: "/bin/sh"), ["-c", "ulimit -t 3; while :; do :; done"],
                output: folder.url.appending(path: "printed"), atMost: .seconds(1))
            #expect([.signal(SIGXCPU), .signal(SIGKILL)].contains(ended))
        }

        @Test("a process that could go on does not wait, whether or not it gets a processor")
        func heldUp() throws {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "echo; while :; do :; done"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            _ = output.fileHandleForReading.availableData
            #expect(Child.isHeldUp(process.processIdentifier))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(!Child.isHeldUp(process.processIdentifier))
        }

        @Test("an interrupted grader removes its folder, and kills the answer")
        func interrupted() throws {
            let endless = try ClassTests().answer("while true {}")
            let answer = try folder.write(endless, to: "Endless.swift")
            let process = Process()
            process.executableURL = Grader.here.command
            process.arguments = ["grade", "5", "--file", answer.path, "--seconds", "100"]
            process.environment = ProcessInfo.processInfo.environment
                .merging(["TMPDIR": folder.url.path]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let temporary = { folder.names.first { $0.hasPrefix("promise-lab-grade-") } }
            let hasBegun = {
                let record = temporary().map { folder.url.appending(path: "\($0)/protocol") }
                return record.flatMap { try? Data(contentsOf: $0) }?.isEmpty == false
            }
            try process.run()
            while !hasBegun(), process.isRunning { usleep(10_000) }
            #expect(temporary() != nil)
            process.terminate()
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == SIGTERM)
            #expect(temporary() == nil)
        }

    #endif

    @Test("the next grader removes the folder of a grader that was killed")
    func killed() throws {
        let ended = try Commands.run(URL(filePath: "/bin/sh"), ["-c", "printf $$"]).output
        let gone = "promise-lab-grade-\(ended)-left"
        let another = "promise-lab-grade-\(getpid())-alive"
        for name in [gone, another] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        Interruption.removeWhatIsLeft(in: folder.url)
        #expect(folder.names == [another])
    }

    @Test("the path of the temporary folder may need quoting in a shell")
    func quotedFolder() throws {
        let temporary = folder.url.appending(path: "it's a \"folder\"")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        let result = try AnswerFile.named("05/NSLock.swift").withFile {
            try Commands.promiseLab(
                ["grade", "5", "--file", $0.path], environment: ["TMPDIR": temporary.path])
        }
        #expect(result.status == 0, "\(result.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    }
}
