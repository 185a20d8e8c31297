import EventLoop
import Foundation
import Sockets
import Wire

/// Why the node does not start, in words for whoever typed the command.
enum StartupError: Error, CustomStringConvertible {
    case cannotListen(key: String, address: SocketAddress, transport: BoundSocket.Transport, reason: SystemError)
    case router(String)
    case certificate(String)
    case advertise(String)
    case worker(String)
    case store
    /// What makes this node one of several.
    case cluster(String)
    /// Another program was to take our place and did not start.
    case successor(String)
    /// A socket that systemd hands in under this name.
    case activation(String)

    var description: String {
        switch self {
        case .cannotListen(let key, let address, let transport, let reason):
            "\(key): cannot listen on \(address) (\(transport)): \(reason)" + Self.holder(of: address.port, transport)
        case .router(let text), .certificate(let text), .advertise(let text), .successor(let text),
            .cluster(let text):
            text
        case .activation(let name):
            "LISTEN_FDNAMES: “\(name)” is none of \(SocketActivation.names.keys.sorted().joined(separator: ", ")), or no open socket"
        case .store: "the store did not run its seeding transaction"
        case .worker(let text): "a worker could not start: \(text)"
        }
    }

    /// Who has the port, as far as /proc tells us; other users' processes stay unknown.
    private static func holder(of port: UInt16, _ transport: BoundSocket.Transport) -> String {
        let inodes = Set(["", "6"].flatMap { socketInodes(in: "/proc/net/\(transport)\($0)", port: port) })
        guard !inodes.isEmpty, let processes = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else { return "" }
        for process in processes where Int(process) != nil {
            let folder = "/proc/\(process)/fd/"
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for descriptor in descriptors {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + descriptor),
                    target.hasPrefix("socket:["), inodes.contains(String(target.dropFirst(8).dropLast()))
                else { continue }
                let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
                return "; held by process \(process) (\(name.trimmingCharacters(in: .whitespacesAndNewlines)))"
            }
        }
        return ""
    }

    private static func socketInodes(in path: String, port: UInt16) -> [String] {
        guard let table = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        let wanted = ":" + String(format: "%04X", port)
        return table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            guard columns.count > 9, columns[1].hasSuffix(wanted) else { return nil }
            return String(columns[9])
        }
    }
}
