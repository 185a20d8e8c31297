/// A session description (RFC 8866): the session-level part and one `MediaDescription` per m-line.
///
/// `i=`, `u=`, `e=`, `p=`, `r=`, `z=` and `k=` are read over: nothing that negotiates uses them.
public struct SessionDescription: Equatable, Sendable {
    public var origin: Origin
    public var sessionName = "-"
    public var connection: ConnectionData?
    public var bandwidths: [Bandwidth] = []
    /// The text after `t=`.
    public var timing = "0 0"
    public var attributes: [Attribute] = []
    public var media: [MediaDescription] = []

    public init(origin: Origin) { self.origin = origin }

    /// More than any encoder sends (a browser's offer is 7 KB); the WHIP endpoint takes no larger body either.
    public static let maximumByteCount = 65_536
    /// The longest line seen is a fmtp with parameter sets, below 500 bytes.
    public static let maximumLineLength = 4_096
    public static let maximumLineCount = 2_048
    /// Two are ever accepted; a few more still get an answer that says so.
    public static let maximumMediaCount = 32
}

/// `o=` (RFC 8866 §5.2).
public struct Origin: Equatable, Sendable {
    public var username: String
    /// Decimal digits; kept as text because encoders send more than 64 bits.
    public var sessionID: String
    public var sessionVersion: String
    /// `IP4` or `IP6`.
    public var addressType: String
    public var address: String

    public init(
        username: String = "-", sessionID: String, sessionVersion: String = "0", addressType: String = "IP4",
        address: String = "127.0.0.1"
    ) {
        (self.username, self.sessionID, self.sessionVersion) = (username, sessionID, sessionVersion)
        (self.addressType, self.address) = (addressType, address)
    }

    init?(line: Substring) {
        let parts = words(line)
        guard parts.count == 6 else { return nil }
        self.init(
            username: String(parts[0]), sessionID: String(parts[1]), sessionVersion: String(parts[2]),
            addressType: String(parts[4]), address: String(parts[5]))
    }

    var line: String { "\(username) \(sessionID) \(sessionVersion) IN \(addressType) \(address)" }
}

/// `c=` (RFC 8866 §5.7); a TTL or address count stays part of `address`.
public struct ConnectionData: Equatable, Sendable {
    public var addressType: String
    public var address: String

    public init(addressType: String = "IP4", address: String) { (self.addressType, self.address) = (addressType, address) }

    init?(line: Substring) {
        let parts = words(line)
        guard parts.count == 3, parts[0] == "IN" else { return nil }
        self.init(addressType: String(parts[1]), address: String(parts[2]))
    }

    var line: String { "IN \(addressType) \(address)" }
}

/// `b=` (RFC 8866 §5.8).
public struct Bandwidth: Equatable, Sendable {
    public var type: String
    /// kbit/s for `AS` and `CT`, bit/s for `TIAS` (RFC 3890).
    public var value: Int

    public init(_ type: String, _ value: Int) { (self.type, self.value) = (type, value) }

    init?(line: Substring) {
        guard let colon = line.firstIndex(of: ":"), let value = Int(line[line.index(after: colon)...]), value >= 0 else {
            return nil
        }
        self.init(String(line[..<colon]), value)
    }

    var line: String { "\(type):\(value)" }
}
