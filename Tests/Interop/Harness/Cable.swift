import Foundation

/// A network with a link to this machine, which goes with its object. For root.
final class Cable {
    /// This machine's address there.
    let near: String
    private let name = "sd\(UInt32.random(in: 0...0xFF_FFFF))"

    init() throws {
        // Four addresses of 10.77.0.0/16: several runs go on side by side.
        let network = "10.77.\(UInt8.random(in: 0...255))"
        let first = 4 * Int.random(in: 0..<64)
        near = "\(network).\(first + 1)"
        try Self.ip("netns", "add", name)
        try Self.ip("link", "add", "\(name)a", "type", "veth", "peer", "name", "\(name)b")
        try Self.ip("link", "set", "\(name)b", "netns", name)
        try Self.ip("address", "add", "\(near)/30", "dev", "\(name)a")
        try Self.ip("-n", name, "address", "add", "\(network).\(first + 2)/30", "dev", "\(name)b")
        try Self.ip("-n", name, "link", "set", "\(name)b", "up")
        try set("up")
    }

    deinit { try? Self.ip("netns", "delete", name) }

    /// The line that runs `arguments` at its far end.
    func command(_ arguments: [String]) -> [String] { ["ip", "netns", "exec", name] + arguments }

    /// - Parameter state: `up` or `down`.
    func set(_ state: String) throws { try Self.ip("link", "set", "\(name)a", state) }

    private static func ip(_ arguments: String...) throws {
        _ = try ProgramRun.output(of: ["ip"] + arguments, within: .seconds(60))
    }
}
