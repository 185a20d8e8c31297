import COpenSSL

/// What all TLS connections of one listener, or of one client, have in common (TLS 1.2 and 1.3). Shared by threads.
///
/// It never changes: a new certificate is a new context, which new connections use while old ones keep theirs.
@safe
public final class TLSContext: Sendable {
    // An SSL_CTX is counted by reference and made for use by many threads, as long as nobody configures it: only `init` does.
    nonisolated(unsafe) let handle: OpaquePointer
    let role: TLSRole
    /// Whether its connections wait for a ClientHello.
    public var isServer: Bool { role == .server }
    /// Whom the handshake may choose in our place, by the name the client asks for.
    private let named: NamedContexts

    /// A server that shows `identity`, or the first of `named` that carries the name the client asks for (RFC 6066 §3).
    /// - Throws: also when key and certificate do not belong together.
    public init(
        server identity: Identity, named others: [Identity] = [], minimumVersion: TLSVersion = .tls12
    ) throws(OpenSSLError) {
        // Before the handle, which would leak: an init that throws before all properties are set runs no `deinit`.
        var contexts: [(certificate: Certificate, context: TLSContext)] = []
        for other in others {
            contexts.append((other.certificate, try TLSContext(server: other, minimumVersion: minimumVersion)))
        }
        (named, role) = (NamedContexts(contexts), .server)
        ERR_clear_error()
        unsafe handle = try OpenSSLError.check(SSL_CTX_new(TLS_server_method()), "SSL_CTX_new")
        configure(minimumVersion)
        if !others.isEmpty { chooseByName() }
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        // librtmp on GnuTLS takes the tickets of TLS 1.3 for the end of the connection, and publishes live for hours: there is
        // nothing to resume.
        unsafe SSL_CTX_set_num_tickets(handle, 0)
        unsafe SSL_CTX_set_alpn_select_cb(handle, selectProtocol, nil)
        try show(identity)
    }

    /// A client that verifies the server's certificate, its names and dates.
    /// - Parameters:
    ///   - authorities: whom to trust in place of the system's authorities.
    ///   - identity: what to show a server that asks for it.
    public init(clientTrusting authorities: [Certificate]? = nil, showing identity: Identity? = nil) throws(OpenSSLError) {
        ERR_clear_error()
        unsafe handle = try OpenSSLError.check(SSL_CTX_new(TLS_client_method()), "SSL_CTX_new")
        role = .client
        named = NamedContexts([])
        configure(.tls12)
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        if let identity { try show(identity) }
        guard let authorities else {
            try OpenSSLError.check(unsafe SSL_CTX_set_default_verify_paths(handle), "SSL_CTX_set_default_verify_paths")
            return
        }
        let store = unsafe SSL_CTX_get_cert_store(handle)
        for authority in authorities {
            try OpenSSLError.check(unsafe X509_STORE_add_cert(store, authority.handle), "X509_STORE_add_cert")
        }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    private func configure(_ minimumVersion: TLSVersion) {
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, minimumVersion.number, nil)
        unsafe SSL_CTX_set_options(handle, Self.options)
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_MODE, Self.modes, nil)
        // Curves whose key exchange a stranger may make us compute: the fast ones.
        unsafe "X25519:P-256:P-384".withCString {
            _ = unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0))
        }
    }

    private func chooseByName() {
        let callback: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CInt>?, UnsafeMutableRawPointer?) -> CInt =
            unsafe chooseContext
        // The setter takes any function, whose type the option fixes.
        let untyped = unsafe unsafeBitCast(callback, to: (@convention(c) () -> Void).self)
        unsafe SSL_CTX_callback_ctrl(handle, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, untyped)
        // It lives as long as we do, and every connection keeps us.
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG, 0, Unmanaged.passUnretained(named).toOpaque())
    }

    private func show(_ identity: Identity) throws(OpenSSLError) {
        // Of a key of another kind, as on the way from RSA to ECDSA, OpenSSL would say that there is no certificate.
        guard unsafe X509_check_private_key(identity.certificate.handle, identity.key.handle) == 1 else {
            ERR_clear_error()
            throw OpenSSLError(call: "the private key is not the certificate's", code: 0)
        }
        try OpenSSLError.check(unsafe SSL_CTX_use_certificate(handle, identity.certificate.handle), "SSL_CTX_use_certificate")
        for issuer in identity.chain {
            let status = unsafe SSL_CTX_ctrl(handle, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer.handle))
            try OpenSSLError.check(CInt(status), "SSL_CTX_add1_chain_cert")
        }
        try OpenSSLError.check(unsafe SSL_CTX_use_PrivateKey(handle, identity.key.handle), "SSL_CTX_use_PrivateKey")
    }

    /// No renegotiation (a stranger could ask for endless handshakes), no compression, the server's choice of cipher.
    /// The header builds these with a macro that Swift does not see: SSL_OP_BIT(30), (17) and (22).
    private static var options: UInt64 { 1 << 30 | 1 << 17 | 1 << 22 }

    /// SSL_MODE_ENABLE_PARTIAL_WRITE, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER, and SSL_MODE_RELEASE_BUFFERS, which spares an idle
    /// connection its 34 kB.
    private static var modes: Int { 0x1 | 0x2 | 0x10 }
}

/// The oldest version of TLS that a server takes.
public enum TLSVersion: Sendable {
    /// RFC 5246 and RFC 8446.
    case tls12, tls13

    var number: Int { Int(self == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION) }
}

/// Contexts by the names that their certificates carry.
private final class NamedContexts: Sendable {
    private let contexts: [(certificate: Certificate, context: TLSContext)]

    init(_ contexts: [(certificate: Certificate, context: TLSContext)]) { self.contexts = contexts }

    /// - Parameter name: as the client sent it; wildcards of certificates are understood.
    func context(for name: UnsafePointer<CChar>) -> TLSContext? {
        contexts.first { unsafe X509_check_host($0.certificate.handle, name, 0, 0, nil) == 1 }?.context
    }
}

/// Puts the context with the wanted name into a handshake; without one the connection's own stays.
private func chooseContext(
    _ ssl: OpaquePointer?, _: UnsafeMutablePointer<CInt>?, _ argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let argument = unsafe argument, let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else {
        return SSL_TLSEXT_ERR_OK
    }
    let named = unsafe Unmanaged<NamedContexts>.fromOpaque(argument).takeUnretainedValue()
    if let context = unsafe named.context(for: name) { unsafe SSL_set_SSL_CTX(ssl, context.handle) }
    return SSL_TLSEXT_ERR_OK
}

/// Which end of a connection we are.
enum TLSRole: Sendable { case server, client }

/// Chooses `http/1.1` where it is offered (RFC 7301); RTMPS clients that offer other things get no answer, not an error.
private func selectProtocol(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, chosenLength: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?, offeredLength: UInt32, _: UnsafeMutableRawPointer?
) -> CInt {
    let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
    var start = 0
    while start < list.count {
        let end = unsafe start + 1 + Int(list[start])
        guard end <= list.count else { break }
        if unsafe list[(start + 1)..<end].elementsEqual("http/1.1".utf8) {
            unsafe chosen?.pointee = offered.map { unsafe $0 + start + 1 }
            unsafe chosenLength?.pointee = UInt8(end - start - 1)
            return SSL_TLSEXT_ERR_OK
        }
        start = end
    }
    return SSL_TLSEXT_ERR_NOACK
}
