import Foundation
import Synchronization

/// What becomes of temporary files and of processes if the grader does not come to its end.
public enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let folders = Mutex<Set<URL>>([])

    /// For commands that grade: when one of the usual signals arrives, answers that are being tried are
    /// ended, and temporary folders are removed, before the signal does what it does otherwise.
    public static func cleanUpWhenItComes() {
        for number in signals {
            let before = unsafeBitCast(signal(number, SIG_IGN), to: Int.self)
            // What was ignored by whoever has started this stays so, as with `nohup`.
            if before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // Nobody gets this lock again: what waits for one of the groups says nothing any more.
                Child.groups.withLock { groups in
                    for group in groups { kill(-group, SIGKILL) }
                    folders.withLock {
                        for folder in $0 { try? FileManager.default.removeItem(at: folder) }
                    }
                    signal(number, SIG_DFL)
                    // Threads of Dispatch let no signal in.
                    var mask = sigset_t()
                    sigemptyset(&mask)
                    sigaddset(&mask, number)
                    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
                    raise(number)
                    _exit(128 + number)
                }
            }
            source.resume()
            // It has to live on; there is one for each signal, once.
            _ = Unmanaged.passRetained(source as AnyObject)
        }
    }

    private static let prefix = "promise-lab-grade-"

    /// Runs with a temporary folder, which is gone afterwards; `nil` if there is no room for one.
    static func withFolder<Value>(_ work: (URL) -> Value) -> Value? {
        let temporary = FileManager.default.temporaryDirectory
        removeWhatIsLeft(in: temporary)
        let folder = temporary.appending(path: "\(prefix)\(getpid())-\(UUID().uuidString)")
        folders.withLock { _ = $0.insert(folder) }
        defer {
            try? FileManager.default.removeItem(at: folder)
            folders.withLock { _ = $0.remove(folder) }
        }
        guard
            (try? FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true)) != nil
        else { return nil }
        return work(folder)
    }

    /// Of graders that were killed, and had no time to clean up. Each folder has their number.
    static func removeWhatIsLeft(in temporary: URL) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: temporary.path)
        for name in names ?? [] where name.hasPrefix(prefix) {
            let number = name.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let id = pid_t(number), kill(id, 0) != 0, errno == ESRCH else { continue }
            try? FileManager.default.removeItem(at: temporary.appending(path: name))
        }
    }
}
