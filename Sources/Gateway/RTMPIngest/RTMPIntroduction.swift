import HTTP
import Wire

/// What comes before RTMP on a connection, as `Introduction` is what comes first at the shared port, and what is to be done about
/// it. A value without transport.
///
///     (a trusted balancer's PROXY header) ─► first byte ─► RTMP, or a stray
///                                              └─► TLS ─► RTMP, or a stray
struct RTMPIntroduction {
    /// What its connection does.
    enum Action {
        /// Come again with these bytes and more.
        case wait
        /// A balancer has said for whom it speaks. Come again with what follows its header.
        case takeHeader(PROXYHeader)
        /// Begin TLS with these bytes, and come again with what is inside.
        case startTLS
        /// All bytes from these on are for the session, which knows a stray by what it says.
        case beginSession
        /// A balancer has not said for whom it speaks.
        case close(PROXYHeader.ParseError)
    }

    /// The client spoke TLS to a balancer that we trust.
    private(set) var balancerEndedTLS = false
    private var awaitsHeader: Bool

    /// - Parameter beginsWithProxyHeader: whether the peer is a balancer that may speak for others, and must say so first.
    init(beginsWithProxyHeader: Bool) { awaitsHeader = beginsWithProxyHeader }

    /// Takes all that has come and was not consumed.
    /// - Parameter isTLS: whether it came inside TLS.
    mutating func receive(_ bytes: RawSpan, isTLS: Bool) -> Action {
        if awaitsHeader { return readHeader(bytes) }
        var reader = ByteReader(bytes)
        guard let first = reader.read(UInt8.self) else { return .wait }
        return first == Self.tlsHandshakeRecord && !isTLS ? .startTLS : .beginSession
    }

    private mutating func readHeader(_ bytes: RawSpan) -> Action {
        do throws(PROXYHeader.ParseError) {
            guard let header = try PROXYHeader.parse(bytes) else { return .wait }
            (awaitsHeader, balancerEndedTLS) = (false, header.isSecure)
            return .takeHeader(header)
        } catch {
            return .close(error)
        }
    }

    /// The content type of a ClientHello's record (RFC 8446 §5.1); RTMP begins with its version, 3.
    private static let tlsHandshakeRecord: UInt8 = 0x16
}
