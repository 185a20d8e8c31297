import HTTP
public import Wire

/// Whose a connection at the shared port is.
public enum ConnectionKind: String, CaseIterable, Sendable { case https, rtmps, ice }

/// What a connection at the shared port has shown of itself, and what is to be done next. A value without socket or clock.
///
///     (a balancer's PROXY header) ─► first bytes ─► TLS ─► ALPN, or the first bytes inside ─► https, rtmps
///                                         └───────────────────────────────────────────────► ice
public struct Introduction: Sendable {
    /// What its carrier does.
    public enum Action: Equatable, Sendable {
        /// Come again with these bytes and more.
        case wait
        /// So many bytes were a balancer's header; whom it speaks for, where it says so.
        case take(byteCount: Int, source: SocketAddress?)
        /// Begin TLS with these bytes.
        case startTLS
        /// All bytes from these on are for that server.
        case hand(ConnectionKind)
        case close(Fault)
    }

    /// Why nobody is given it.
    public enum Fault: String, CaseIterable, Sendable {
        /// It begins as nothing that is served here.
        case unknown
        /// A balancer's header that we do not take.
        case malformedProxyHeader = "proxy_header"
        /// RTMP from a balancer that has not said for whom it speaks.
        case missingProxyHeader = "no_proxy_header"
    }

    private enum Stage { case header, opening, handshake, content, over }

    private var stage: Stage
    /// A trusted balancer has sent no header.
    private var isHeaderMissing = false

    /// - Parameter isTrustedProxy: whether the peer is a balancer that may speak for others.
    public init(isTrustedProxy: Bool) { stage = isTrustedProxy ? .header : .opening }

    /// Takes all that has come and was not consumed, which is at least one byte.
    public mutating func receive(_ bytes: RawSpan) -> Action {
        switch stage {
        case .header: takeHeader(bytes)
        case .opening: open(bytes)
        case .content: look(at: bytes)
        case .handshake, .over: .wait
        }
    }

    /// TLS stands.
    /// - Parameter applicationProtocol: what both sides agreed on (RFC 7301); nil where the client left that open.
    public mutating func handshakeCompleted(applicationProtocol: String?) -> Action {
        guard stage == .handshake else { return .wait }
        stage = .content
        return applicationProtocol == Self.http ? hand(.https) : .wait
    }

    private mutating func takeHeader(_ bytes: RawSpan) -> Action {
        do throws(PROXYHeader.ParseError) {
            guard let header = try PROXYHeader.parse(bytes) else { return .wait }
            stage = .opening
            return .take(byteCount: header.byteCount, source: header.source)
        } catch {
            guard error == .missing else { return close(.malformedProxyHeader) }
            (stage, isHeaderMissing) = (.opening, true)
            return open(bytes)
        }
    }

    private mutating func open(_ bytes: RawSpan) -> Action {
        switch FirstBytes.opening(bytes) {
        case .incomplete: return .wait
        case .found(.tls):
            stage = .handshake
            return .startTLS
        case .found(.ice): return hand(.ice)
        case .foreign: return close(.unknown)
        }
    }

    private mutating func look(at bytes: RawSpan) -> Action {
        switch FirstBytes.content(bytes) {
        case .incomplete: .wait
        case .found(let kind): hand(kind)
        case .foreign: close(.unknown)
        }
    }

    private mutating func hand(_ kind: ConnectionKind) -> Action {
        // As at the RTMP listener; HTTP's and ICE's take a balancer without it.
        if kind == .rtmps, isHeaderMissing { return close(.missingProxyHeader) }
        stage = .over
        return .hand(kind)
    }

    private mutating func close(_ fault: Fault) -> Action {
        stage = .over
        return .close(fault)
    }

    private static let http = "http/1.1"
}
