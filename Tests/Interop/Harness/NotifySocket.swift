import Foundation

/// What systemd has for its services to talk to (sd_notify(3)): says what it was told, and by whom.
final class NotifySocket {
    let path = Workspace.temporaryFile(suffix: ".notify").path
    private let descriptor: CInt
    private var told: [String] = []
    private var beats = 0

    init() throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Fault.notBound(errno) }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Every line so far, without the watchdog's.
    var lines: [String] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return told }
            let text = String(decoding: bytes[..<count], as: UTF8.self)
            let lines = text.split(separator: "\n").map(String.init)
            told += lines.filter { $0 != "WATCHDOG=1" }
            beats += lines.count(where: { $0 == "WATCHDOG=1" })
        }
    }

    /// How often the watchdog was told so far.
    var heartbeats: Int {
        _ = lines
        return beats
    }

    enum Fault: Error { case notBound(CInt) }
}
