public import Wire

/// Where a listener listens, or that it does not.
public struct ListenAddress: Equatable, Sendable {
    /// Nil when the listener is off. Port 0 takes any free port.
    public var address: SocketAddress?

    public init(_ address: SocketAddress?) { self.address = address }
    public static let off = ListenAddress(nil)

    public var isOff: Bool { address == nil }
    /// Whether only this machine can reach it.
    public var isLoopback: Bool { address?.ip.isLoopback ?? true }
}

extension ListenAddress: ScalarValue {
    init?(text: String) {
        if text == "off" {
            self = .off
        } else if let address = SocketAddress(text.hasPrefix(":") ? "[::]\(text)" : text) {
            self.init(address)
        } else {
            return nil
        }
    }

    var text: String { address?.description ?? "off" }
    static var expectation: String { "an address and port such as [::]:1935 (port 0: any free one), or off" }
}
