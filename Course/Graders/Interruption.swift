import Foundation
import Synchronization

/// Cleans up temporary files and processes when a grader is interrupted.
public enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let folders = Mutex<Set<URL>>([])

    /// For commands that grade. When one of the usual signals arrives, running answers are killed
    /// and temporary folders are removed. Then the signal takes its normal effect.
    public static func cleanUpWhenItComes() {
        for number in signals {
            let before = unsafeBitCast(signal(number, SIG_IGN), to: Int.self)
            // A signal that was ignored when this process started stays ignored, as with `nohup`.
            if before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The lock is never released, so no thread that waits for a child continues from
                // here on.
                Child.groups.withLock { groups in
                    for group in groups { kill(-group, SIGKILL) }
                    folders.withLock {
                        for folder in $0 { try? FileManager.default.removeItem(at: folder) }
                    }
                    signal(number, SIG_DFL)
                    // Threads of Dispatch block signals.
                    var mask = sigset_t()
                    sigemptyset(&mask)
                    sigaddset(&mask, number)
                    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
                    raise(number)
                    _exit(128 + number)
                }
            }
            source.resume()
            // The source must stay alive; there is one for each signal.
            _ = Unmanaged.passRetained(source as AnyObject)
        }
    }

    private static let prefix = "promise-lab-grade-"

    /// Runs `work` with a temporary folder, which is removed afterwards.
    static func withFolder<Value>(
        _ work: (URL) throws(Grade.Result) -> Value
    ) throws(Grade.Result) -> Value {
        let temporary = FileManager.default.temporaryDirectory
        removeWhatIsLeft(in: temporary)
        // The length of the path is always the same, so that it takes the same memory.
        let id = String(10_000_000_000 + UInt64(getpid())).dropFirst()
        let folder = temporary.appending(path: "\(prefix)\(id)-\(UUID().uuidString)")
        folders.withLock { _ = $0.insert(folder) }
        defer {
            try? FileManager.default.removeItem(at: folder)
            folders.withLock { _ = $0.remove(folder) }
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw .unavailable("a temporary folder could not be created")
        }
        return try work(folder)
    }

    /// Removes the folders of graders that were killed before they could clean up. The name of a
    /// folder contains the process id of its grader.
    static func removeWhatIsLeft(in temporary: URL) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: temporary.path)
        for name in names ?? [] where name.hasPrefix(prefix) {
            let number = name.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let id = pid_t(number), kill(id, 0) != 0, errno == ESRCH else { continue }
            try? FileManager.default.removeItem(at: temporary.appending(path: name))
        }
    }
}
