import Foundation
import Handover
import Sockets

/// Sockets that systemd bound for us before we started (sd_listen_fds(3)): they outlive restarts, and clients only wait.
enum SocketActivation {
    /// `FileDescriptorName=` of the socket units, and what each is for.
    static let names: [String: SocketRole.Kind] = [
        "http": .http, "https": .https, "rtmp": .rtmp, "shared": .shared, "media": .media, "media-tcp": .mediaTCP,
        "admin": .admin,
    ]

    static func name(of kind: SocketRole.Kind) -> String { names.first { $0.value == kind }?.key ?? kind.rawValue }

    private static let firstDescriptor: CInt = 3
    private static let maximumDescriptors = 1_024

    /// Takes them out of the environment; empty when there are none, or they are meant for another process.
    /// - Throws: in words, when a name is none of ours.
    static func take(
        from environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StartupError) -> [SocketRole.Kind: [OwnedDescriptor]] {
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap(Int.init),
            (1...maximumDescriptors).contains(count)
        else { return [:] }
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [SocketRole.Kind: [OwnedDescriptor]] = [:]
        for index in 0..<count {
            let name = index < names.count ? String(names[index]) : ""
            guard let kind = Self.names[name] else { throw .activation(name) }
            let number = firstDescriptor + CInt(index)
            guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0, fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) == 0 else {
                throw .activation(name)
            }
            sockets[kind, default: []].append(OwnedDescriptor(number))
        }
        return sockets
    }
}
