import HTTP
import Wire

/// What comes before requests on a connection, and what is to be done about it. A value without transport.
///
///     (a trusted balancer's PROXY header) ─► first byte ─► TLS, where the listener speaks it ─► requests
///                                              └─► requests, where it does not
struct HTTPIntroduction {
    /// What its connection does.
    enum Action: Equatable {
        /// Come again with these bytes and more.
        case wait
        /// A balancer has said for whom it speaks. Come again with what follows its header.
        case takeHeader(PROXYHeader)
        /// Begin TLS with these bytes, and come again with what is inside.
        case startTLS
        /// These bytes and all that follow are requests.
        case readRequests
        /// Answer with this sentence, and close.
        case refuse(String)
    }

    private enum Stage { case header, opening, over }

    /// The client spoke TLS to a balancer that we trust.
    private(set) var balancerEndedTLS = false
    private let speaksTLS: Bool
    private var stage: Stage

    /// - Parameters:
    ///   - mayBeginWithProxyHeader: whether the peer is a balancer that may speak for others.
    ///   - speaksTLS: whether the listener does, after the header if there is one.
    init(mayBeginWithProxyHeader: Bool, speaksTLS: Bool) {
        self.speaksTLS = speaksTLS
        stage = mayBeginWithProxyHeader ? .header : .opening
    }

    /// Takes all that has come and was not consumed, which is at least one byte.
    mutating func receive(_ bytes: RawSpan) -> Action {
        switch stage {
        case .header: readHeader(bytes)
        case .opening: open(bytes)
        case .over: .readRequests
        }
    }

    private mutating func readHeader(_ bytes: RawSpan) -> Action {
        do throws(PROXYHeader.ParseError) {
            guard let header = try PROXYHeader.parse(bytes) else { return .wait }
            (stage, balancerEndedTLS) = (.opening, header.isSecure)
            return .takeHeader(header)
        } catch {
            switch error {
            case .missing:
                stage = .opening
                return open(bytes)
            case .version1: return .refuse("Send version 2 of the PROXY protocol.")
            case .malformed, .tooLong: return .refuse("The PROXY header is malformed.")
            }
        }
    }

    private mutating func open(_ bytes: RawSpan) -> Action {
        stage = .over
        guard speaksTLS else { return .readRequests }
        // Who speaks HTTP in the clear begins with a method's letter (RFC 9112 §3), and no TLS record does (RFC 8446 §5.1).
        var reader = ByteReader(bytes)
        guard let first = reader.read(UInt8.self), (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else {
            return .startTLS
        }
        return .refuse("This port speaks HTTPS alone: write https:// in the URL.")
    }
}
