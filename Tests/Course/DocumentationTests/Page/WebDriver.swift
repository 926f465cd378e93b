import Foundation
import Synchronization
import Testing

/// A headless browser, driven over the WebDriver protocol (https://www.w3.org/TR/webdriver2).
final class Browser: Sendable {
    private let driver: Process
    private let port: Int
    private let session: String
    private let folder: URL

    /// Why no browser can be driven; `nil` if one can.
    static let missing: String? = {
        let needed = ["chromedriver", "chromium"]
        let absent = needed.filter { path(of: $0) == nil }
        return absent.isEmpty ? nil : "not installed: \(absent.joined(separator: ", "))"
    }()

    /// Whether tests fail instead of being skipped if there is no browser.
    static let isRequired = ProcessInfo.processInfo.environment["REQUIRE_BROWSER"] != nil

    private static func path(of program: String) -> URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return folders.split(separator: ":").map { URL(filePath: "\($0)/\(program)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `use` with a browser that shows nothing. One without arguments is used again by the
    /// next test of the suite, see ``SharedBrowser``.
    static func run(
        arguments: [String] = [], _ use: (Browser) async throws -> Void
    ) async throws {
        if let missing { throw Failure(description: missing) }
        let idle = arguments.isEmpty ? SharedBrowser.current?.take() : nil
        let browser = if let idle { idle } else { try await Browser(arguments) }
        do {
            try await use(browser)
            guard arguments.isEmpty, let shared = SharedBrowser.current else {
                return await browser.end()
            }
            // A tab that has used much memory may take longer to close than the driver waits. Then the
            // next test starts another browser.
            guard (try? await browser.closeTab()) != nil else { return await browser.end() }
            await shared.put(browser)?.end()
        } catch {
            await browser.end()
            throw error
        }
    }

    /// Replaces the tab by a new one, in which nothing is emulated, and empties the logs.
    private func closeTab() async throws {
        let answer = try await post("window/new", ["type": "tab"])
        guard let tab = (answer as? [String: Any])?["handle"] as? String else {
            throw Failure(description: "no tab: \(answer)")
        }
        _ = try await Browser.send("DELETE", port, "\(session)/window", nil)
        _ = try await post("window", ["handle": tab])
        for type in ["browser", "performance"] { _ = try await log(type) }
    }

    private init(_ arguments: [String]) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        (driver, port) = try Browser.startDriver(in: folder)
        let options: [String: Any] = [
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--force-device-scale-factor=1",
            ] + arguments
        ]
        let capabilities: [String: Any] = [
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
            "timeouts": ["script": 600_000],
        ]
        do {
            let answer = try await Browser.send(
                "POST", port, "/session", ["capabilities": ["alwaysMatch": capabilities]])
            guard let id = (answer as? [String: Any])?["sessionId"] as? String else {
                throw Failure(description: "no session: \(answer)")
            }
            session = "/session/\(id)"
        } catch {
            Browser.end(driver, folder)
            throw error
        }
    }

    /// The driver chooses a free port and prints it. It and the browser leave files in `folder`.
    private static func startDriver(in folder: URL) throws -> (Process, port: Int) {
        let driver = Process()
        driver.executableURL = path(of: "chromedriver")
        driver.arguments = ["--port=0"]
        driver.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) {
            $1
        }
        let output = Pipe()
        driver.standardOutput = output
        driver.standardError = FileHandle.nullDevice
        try driver.run()
        var printed = ""
        while true {
            let data = some(of: output)
            guard !data.isEmpty else {
                throw Failure(description: "chromedriver ended: \(printed)")
            }
            printed += String(decoding: data, as: UTF8.self)
            if let port = printed.firstMatch(of: /successfully on port (\d+)/) {
                return (driver, Int(port.1)!)
            }
        }
    }

    /// The available bytes. A signal may interrupt a read, which FileHandle reports as an error.
    private static func some(of pipe: Pipe) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(pipe.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return Array(buffer[..<max(0, count)])
        }
    }

    fileprivate func end() async {
        _ = try? await Browser.send("DELETE", port, session, nil)
        Browser.end(driver, folder)
    }

    /// Ends a driver. It may have inherited a signal mask that blocks every signal but this one.
    private static func end(_ driver: Process, _ folder: URL) {
        kill(driver.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Commands

    func open(_ url: String) async throws {
        // A change of the fragment alone would not reload the page.
        _ = try await post("url", ["url": "about:blank"])
        _ = try await post("url", ["url": url])
    }

    /// The address as the browser shows it.
    func address() async throws -> String {
        try await Browser.send("GET", port, "\(session)/url", nil) as? String ?? ""
    }

    /// Runs a script and returns what it returns.
    @discardableResult
    func run(_ script: String, _ arguments: [Any] = []) async throws -> Any {
        try await post("execute/sync", ["script": script, "args": arguments])
    }

    func text(_ script: String, _ arguments: [Any] = []) async throws -> String {
        guard let text = try await run("return String(\(script))", arguments) as? String else {
            throw Failure(description: "no text: \(script)")
        }
        return text
    }

    func texts(_ script: String, _ arguments: [Any] = []) async throws -> [String] {
        guard let texts = try await run("return \(script)", arguments) as? [String] else {
            throw Failure(description: "no texts: \(script)")
        }
        return texts
    }

    /// Clicks an element like a pointer: it must be visible, and nothing may cover it.
    func click(_ selector: String) async throws {
        let answer = try await post("element", ["using": "css selector", "value": selector])
        guard let element = (answer as? [String: Any])?.values.first as? String else {
            throw Failure(description: "no element \(selector): \(answer)")
        }
        _ = try await post("element/\(element)/click", [:])
    }

    /// Presses keys one after the other, on the focused element.
    func press(_ keys: [String]) async throws {
        let actions = keys.flatMap { key in
            [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]]
        }
        _ = try await post(
            "actions", ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    func press(_ keys: Key...) async throws { try await press(keys.map(\.rawValue)) }

    enum Key: String {
        case tab = "\u{E004}"
        case enter = "\u{E007}"
        case space = " "
        case home = "\u{E011}"
        case left = "\u{E012}"
        case right = "\u{E014}"
        case down = "\u{E015}"
    }

    func resize(width: Int, height: Int) async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    }

    /// Sets a media feature such as `prefers-color-scheme`.
    func emulate(_ feature: String, _ value: String) async throws {
        try await devTools(
            "Emulation.setEmulatedMedia", ["features": [["name": feature, "value": value]]])
    }

    /// Switches between print and screen.
    func print(_ isOn: Bool) async throws {
        try await devTools("Emulation.setEmulatedMedia", ["media": isOn ? "print" : ""])
    }

    /// Moves the pointer to the middle of an element that a script finds, or on a path, to the
    /// first point that nothing covers.
    func point(at script: String) async throws {
        let place = try await run(
            """
            const node = \(script);
            node.scrollIntoView({ block: "center" });
            const { left, top, width, height } = node.getBoundingClientRect();
            const places = [[left + width / 2, top + height / 2]];
            for (let i = 1; node.getPointAtLength && i < 200; i += 1) {
              const { x, y } = node.getPointAtLength(node.getTotalLength() * i / 200)
                .matrixTransform(node.getScreenCTM());
              places.push([x, y]);
            }
            return places.map(place => place.map(Math.round))
              .find(place => node.contains(document.elementFromPoint(...place)));
            """)
        guard let place = place as? [Int] else { throw Failure(description: "no place: \(script)") }
        let move: [String: Any] = [
            "type": "pointerMove", "duration": 0, "x": place[0], "y": place[1],
        ]
        _ = try await post(
            "actions", ["actions": [["type": "pointer", "id": "mouse", "actions": [move]]]])
    }

    @discardableResult
    func devTools(_ command: String, _ parameters: [String: Any]) async throws -> Any {
        try await post("goog/cdp/execute", ["cmd": command, "params": parameters])
    }

    /// The messages of a log since the last read: `browser` is the console.
    func log(_ type: String) async throws -> [String] {
        let entries = try await post("se/log", ["type": type]) as? [[String: Any]] ?? []
        return entries.compactMap { $0["message"] as? String }
    }

    // MARK: The protocol

    private func post(_ path: String, _ body: [String: Any]) async throws -> Any {
        try await Browser.send("POST", port, "\(session)/\(path)", body)
    }

    private static func send(
        _ method: String, _ port: Int, _ path: String, _ body: [String: Any]?
    ) async throws -> Any {
        let json = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let data = try await HTTP.send(method, port: port, path: path, body: json)
        guard let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let value = answer["value"]
        else { throw Failure(description: String(decoding: data, as: UTF8.self)) }
        if let value = value as? [String: Any], let error = value["error"] as? String {
            throw Failure(description: "\(error): \(value["message"] ?? "")")
        }
        return value
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests of a suite where no browser is installed, unless one is required.
    static var needsBrowser: Self {
        .enabled(
            if: Browser.missing == nil || Browser.isRequired,
            "the page is tested in a browser: \(Browser.missing ?? "")")
    }
}

extension Trait where Self == SharedBrowser {
    /// The tests of a suite use one browser, one after the other.
    static var sharesBrowser: Self { SharedBrowser() }
}

/// The browser that the tests of a suite share. It ends with the suite.
struct SharedBrowser: SuiteTrait, TestScoping {
    final class Idle: Sendable {
        private let browser = Mutex<Browser?>(nil)

        /// Returns the browser if no test uses it.
        func take() -> Browser? { put(nil) }

        /// Returns the browser that was idle before.
        @discardableResult
        func put(_ browser: Browser?) -> Browser? {
            self.browser.withLock { idle in
                defer { idle = browser }
                return idle
            }
        }
    }

    @TaskLocal static var current: Idle?

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let idle = Idle()
        do {
            try await SharedBrowser.$current.withValue(idle) { try await function() }
        } catch {
            await idle.take()?.end()
            throw error
        }
        await idle.take()?.end()
    }
}
