import Foundation

/// A terminal that a test reads.
package final class TestTerminal {
    struct Failure: Error {}

    /// The file to which a command writes.
    let handle: FileHandle
    private let reader: FileHandle

    package init(columns: Int) throws {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 50, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&reading, &writing, nil, nil, &size) == 0 else { throw Failure() }
        reader = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
        handle = FileHandle(fileDescriptor: writing, closeOnDealloc: true)
        // A process that starts meanwhile must not keep it open.
        _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writing, F_SETFD, FD_CLOEXEC)
    }

    /// Reads until no process has the terminal open any more.
    func read() -> Data {
        try? handle.close()
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = buffer.withUnsafeMutableBytes {
                Foundation.read(reader.fileDescriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // On Linux, reading reports the end as an error.
            if count <= 0 { return data }
            data += buffer[..<count]
        }
    }
}
