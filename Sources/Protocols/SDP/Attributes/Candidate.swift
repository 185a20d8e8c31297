public import Wire

/// `a=candidate` (RFC 8839 §5.1), with TCP's `tcptype` (RFC 6544 §4.5).
public struct Candidate: TypedAttribute, Equatable {
    /// RFC 6544 §4.5 adds TCP.
    public enum Transport: String, Sendable { case udp, tcp }

    public static let attributeName = "candidate"
    /// The same for candidates of one base and server.
    public var foundation: String
    /// 1 for RTP, and with rtcp-mux for all.
    public var component: UInt16
    /// `udp` and `tcp` are written in either case.
    public var transport: Transport
    /// See `priority(typePreference:localPreference:)`.
    public var priority: UInt32
    /// An address, or a name such as mDNS's `….local`, which we never look up.
    public var connectionAddress: String
    /// 9 for TCP candidates that only connect (RFC 6544 §4.5).
    public var port: UInt16
    /// `host`, `srflx`, `prflx`, `relay`.
    public var type: String
    /// `active`, `passive`, `so` for TCP.
    public var tcpType: String?
    /// Everything after the type that is not `tcptype`, as written.
    public var extensions: String?

    /// A host candidate of component 1 at an address, without extensions.
    public init(foundation: String, transport: Transport, priority: UInt32, address: SocketAddress, tcpType: String? = nil) {
        (self.foundation, component, self.transport) = (foundation, 1, transport)
        (self.priority, type, self.tcpType) = (priority, "host", tcpType)
        (connectionAddress, port) = ("\(address.ip)", address.port)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard parts.count >= 8, parts[6] == "typ", parts[0].utf8.count <= Self.maximumFoundationLength,
            let component = UInt16(parts[1]), let transport = Transport(rawValue: parts[2].lowercased()),
            let priority = UInt32(parts[3]), let port = UInt16(parts[5])
        else { return nil }
        (foundation, self.component, self.transport) = (String(parts[0]), component, transport)
        (self.priority, connectionAddress, self.port) = (priority, String(parts[4]), port)
        type = String(parts[7])
        var rest: [Substring] = []
        for index in stride(from: 8, to: parts.count, by: 2) {
            if parts[index] == "tcptype", index + 1 < parts.count {
                tcpType = String(parts[index + 1])
            } else {
                rest += parts[index..<min(index + 2, parts.count)]
            }
        }
        extensions = rest.isEmpty ? nil : rest.joined(separator: " ")
    }

    public var attributeValue: String {
        var text = "\(foundation) \(component) \(transport.rawValue) \(priority) \(connectionAddress) \(port) typ \(type)"
        if let tcpType { text += " tcptype \(tcpType)" }
        if let extensions { text += " " + extensions }
        return text
    }

    /// The address and port; nil for names.
    public var address: SocketAddress? { IPAddress(connectionAddress).map { SocketAddress($0, port: port) } }

    /// The priority of RFC 8445 §5.1.2.1 for component 1.
    public static func priority(typePreference: UInt32, localPreference: UInt32) -> UInt32 {
        typePreference << 24 | localPreference << 8 | 255
    }

    /// RFC 8839 allows 32; aiortc's hashes are 32 long, nothing longer was seen.
    static let maximumFoundationLength = 64
}
