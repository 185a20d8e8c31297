public import Wire

/// The PROXY protocol header, version 2, by which a balancer tells who connected to it.
///
/// (`proxy-protocol.txt` §2.2; of the type-length-values the one about TLS is read.) Version 1 is refused by name: its text has
/// no length, so it cannot be told from a request that was cut.
public struct PROXYHeader: Equatable, Sendable {
    /// Why a connection behind a trusted balancer is closed at once.
    public enum ParseError: Error, Equatable, Sendable {
        /// The bytes are no PROXY header.
        case missing
        /// The text form, which is not taken.
        case version1
        /// A version, command or address block that the specification does not have.
        case malformed
        /// More type-length-values than `maximumLength` admits.
        case tooLong
    }

    /// The client; nil for the balancer's own checks (LOCAL) and for address families that are not IP.
    public var source: SocketAddress?
    /// Whether the client spoke TLS to the balancer, which has ended it (PP2_TYPE_SSL, §2.2.6); where it does not say so, no.
    public var isSecure = false
    /// Bytes of the header on the wire.
    public var byteCount: Int

    /// Two IPv6 addresses and ports take 36 bytes; the rest is for type-length-values, of which certificates are the longest.
    public static let maximumLength = 16 + 2048
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// Parses the header at the beginning of `bytes`; nil while it is not complete.
    public static func parse(_ bytes: RawSpan) throws(ParseError) -> PROXYHeader? {
        var reader = ByteReader(bytes)
        for expected in signature {
            guard let byte = reader.read(UInt8.self) else { return nil }
            if byte == expected { continue }
            guard beginsVersion1(bytes) else { throw .missing }
            if bytes.byteCount < version1Word.count { return nil }
            throw .version1
        }
        guard let versionAndCommand = reader.read(UInt8.self), let family = reader.read(UInt8.self),
            let length = reader.read(UInt16.self)
        else { return nil }
        guard versionAndCommand >> 4 == 2, versionAndCommand & 0x0F <= 1 else { throw .malformed }
        guard Int(length) + 16 <= maximumLength else { throw .tooLong }
        guard let addresses = reader.readSpan(count: Int(length)) else { return nil }
        var header = PROXYHeader(byteCount: reader.offset)
        if versionAndCommand & 0x0F == 1 { try header.parseAddresses(addresses, family: family) }
        return header
    }

    private mutating func parseAddresses(_ bytes: RawSpan, family: UInt8) throws(ParseError) {
        var reader = ByteReader(bytes)
        let isV6: Bool
        switch family {
        case 0x11, 0x12: isV6 = false
        case 0x21, 0x22: isV6 = true
        case 0x00, 0x31, 0x32: return
        default: throw .malformed
        }
        guard let address = Self.readAddress(&reader, isV6), reader.skip(isV6 ? 16 : 4),  // where it connected to
            let port = reader.read(UInt16.self), reader.skip(2)
        else { throw .malformed }
        source = SocketAddress(address, port: port)
        isSecure = Self.saysTLS(&reader)
    }

    /// What cannot be read says nothing.
    private static func saysTLS(_ reader: inout ByteReader) -> Bool {
        while let type = reader.read(UInt8.self), let length = reader.read(UInt16.self),
            let value = reader.readBytes(count: Int(length))
        {
            if type == typeTLS { return value.first.map { $0 & clientSpokeTLS != 0 } ?? false }
        }
        return false
    }

    private static let typeTLS: UInt8 = 0x20
    private static let clientSpokeTLS: UInt8 = 0x01

    private static func readAddress(_ reader: inout ByteReader, _ isV6: Bool) -> IPAddress? {
        guard isV6 else { return reader.read(UInt32.self).map { .v4($0) } }
        guard let high = reader.read(UInt64.self), let low = reader.read(UInt64.self) else { return nil }
        return IPAddress(v6High: high, low: low)
    }

    private static let version1Word = Array("PROXY ".utf8)

    private static func beginsVersion1(_ bytes: RawSpan) -> Bool {
        version1Word.indices.allSatisfy { $0 >= bytes.byteCount || bytes.byte(at: $0) == version1Word[$0] }
    }
}

/// Who sent a request and how, by the words of proxies that the operator trusts.
public struct ForwardedSource: Equatable, Sendable {
    /// The client's address; its port is 0 where a proxy did not say it.
    public var source: SocketAddress
    /// The client spoke TLS, to us or to the proxy.
    public var isSecure: Bool
    /// What proxies took off the path that the client asked for, from X-Forwarded-Prefix: `/ingest`; empty where nothing.
    public var pathPrefix = ""

    /// Bytes of a prefix that is believed, at most.
    static let maximumPrefixLength = 256

    /// Reads X-Forwarded-For from its right end: each trusted proxy wrote the address it saw, so the first address that is no
    /// trusted proxy is the client. What stands left of it, or is malformed, anybody may have invented.
    public init(peer: SocketAddress, isSecure: Bool, headers: HTTPHeaders, trusted: [IPNetwork]) {
        (self.source, self.isSecure) = (peer, isSecure)
        guard trusted.contains(where: { $0.contains(peer.ip) }) else { return }
        for text in headers.list(of: "X-Forwarded-For").reversed() {
            guard let address = Self.address(text) else { break }
            source = address
            if !trusted.contains(where: { $0.contains(address.ip) }) { break }
        }
        if let scheme = headers.list(of: "X-Forwarded-Proto").last { self.isSecure = HTTPHeaders.areEqual(scheme, "https") }
        pathPrefix = Self.prefix(of: headers.list(of: "X-Forwarded-Prefix"))
    }

    /// Each proxy adds what it took off, the outermost first. Nothing of it is believed where a part is no path: `//HOST` would
    /// send clients to another host.
    private static func prefix(of parts: [String]) -> String {
        let paths = parts.map { $0.hasSuffix("/") ? $0.dropLast() : $0[...] }
        let prefix: String = paths.joined()
        return prefix.utf8.count <= maximumPrefixLength && paths.allSatisfy(isPath) ? prefix : ""
    }

    /// Empty, or segments that mean themselves: no `.` and `..`, and nothing that would have to be escaped.
    private static func isPath(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.hasPrefix("/") else { return false }
        return text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(\.isUnreserved)
        }
    }

    /// Proxies write the bare address, some with a port, some IPv6 in brackets.
    private static func address(_ text: String) -> SocketAddress? {
        if let ip = IPAddress(text) { return SocketAddress(ip, port: 0) }
        if let address = SocketAddress(text) { return address }
        guard text.hasPrefix("["), text.hasSuffix("]"), let ip = IPAddress(text.dropFirst().dropLast()) else { return nil }
        return SocketAddress(ip, port: 0)
    }
}
