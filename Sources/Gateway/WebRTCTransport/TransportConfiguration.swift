import OpenSSL
public import Settings
public import Wire

/// How the sessions of the media port are made and kept.
public struct TransportConfiguration: Sendable {
    /// WHIP's settings, which are WHEP's too.
    public var whip = WHIPSettings()
    /// The kernel's buffer of each worker's part of the media port, in bytes.
    public var receiveBuffer = MediaSettings().receiveBuffer.bytes
    /// Addresses of the media port as clients reach it, at the start; they replace what interfaces say.
    public var advertisedAddresses: [SocketAddress]
    /// Where ICE-TCP is taken, as clients reach it, at the start; none where it is not.
    public var tcpAddresses: [SocketAddress]
    /// Letters and digits; part of session ids.
    public var node = "n1"
    /// Below 64: tells this process's sessions from those of the one before.
    public var generation: UInt8 = 0
    /// Binds session ids to their tokens; the same for every process that may be asked for a session.
    public var sessionKey = Secret(Random.bytes(count: 32))

    public init(advertisedAddresses: [SocketAddress], tcpAddresses: [SocketAddress] = []) {
        (self.advertisedAddresses, self.tcpAddresses) = (advertisedAddresses, tcpAddresses)
    }
}
