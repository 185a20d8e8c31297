import Foundation

/// A network of one machine with one address that is not loopback: libnice, on which GStreamer's WebRTC stands, never sends to
/// 127.0.0.1. It goes with its object.
final class NetworkNamespace {
    /// Of the block for documentation (RFC 5737): nothing outside is ever meant.
    let address = "192.0.2.1"
    private let name = "stagedoor-\(UUID().uuidString.prefix(8))"

    init() throws {
        try Self.ip("netns", "add", name)
        try Self.ip("-n", name, "link", "set", "lo", "up")
        // An interface is up when its other end is; both lie in here.
        try Self.ip("-n", name, "link", "add", "front", "type", "veth", "peer", "name", "back")
        try Self.ip("-n", name, "address", "add", "\(address)/24", "dev", "front")
        for end in ["front", "back"] { try Self.ip("-n", name, "link", "set", end, "up") }
    }

    deinit { try? Self.ip("netns", "delete", name) }

    /// The line that runs `arguments` in here.
    func command(_ arguments: [String]) -> [String] { ["ip", "netns", "exec", name] + arguments }

    /// From now on no datagram leaves for that port, as behind a firewall that lets TCP pass.
    func prohibitUDP(to port: UInt16) throws {
        // Rules before the one for local addresses, which usually is the first.
        try Self.ip("-n", name, "rule", "add", "pref", "20", "lookup", "local")
        try Self.ip("-n", name, "rule", "add", "pref", "10", "ipproto", "udp", "dport", "\(port)", "prohibit")
        try Self.ip("-n", name, "rule", "delete", "pref", "0")
    }

    private static func ip(_ arguments: String...) throws {
        _ = try ProgramRun.output(of: ["ip"] + arguments, within: .seconds(60))
    }
}
