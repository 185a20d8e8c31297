import Foundation

/// The network of one more machine, whose only way out is a cable to this one. It goes with its object.
final class OutsideNetwork {
    private let name = "stagedoor-\(UUID().uuidString.prefix(8).lowercased())"
    private var cable: String { "sd-" + name.suffix(8) }

    /// Both ends of the cable, of a block for documentation (RFC 5737): nothing outside is ever meant.
    private static let (near, far) = ("198.51.100.1", "198.51.100.2")

    init() throws {
        try Self.ip("netns", "add", name)
        try Self.ip("-n", name, "link", "set", "lo", "up")
        try Self.ip("link", "add", cable, "type", "veth", "peer", "name", "out", "netns", name)
        try Self.ip("address", "add", "\(Self.near)/30", "dev", cable)
        try Self.ip("link", "set", cable, "up")
        try Self.ip("-n", name, "address", "add", "\(Self.far)/30", "dev", "out")
        try Self.ip("-n", name, "link", "set", "out", "up")
        try Self.ip("-n", name, "route", "add", "default", "via", Self.near)
    }

    deinit { try? Self.ip("netns", "delete", name) }

    /// The line that runs `arguments` in here.
    func command(_ arguments: [String]) -> [String] { ["ip", "netns", "exec", name] + arguments }

    /// From now on no datagram leaves for that port, as behind a firewall that lets others pass.
    func prohibitUDP(to port: UInt16) throws {
        try Self.ip("-n", name, "rule", "add", "pref", "10", "ipproto", "udp", "dport", "\(port)", "prohibit")
    }

    private static func ip(_ arguments: String...) throws {
        _ = try ProgramRun.output(of: ["ip"] + arguments, within: .seconds(60))
    }
}
