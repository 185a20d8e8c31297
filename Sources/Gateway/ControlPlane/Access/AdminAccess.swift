import HTTP
import OpenSSL
import Settings
import Signatures
import Store
import Wire

/// Who may ask: the right name, from no foreign web page, signed by one of the access keys or signed in (docs/design.md 7.6).
struct AdminAccess {
    private let settings: ControlPlaneSettings

    init(_ settings: ControlPlaneSettings) { self.settings = settings }

    var demandsSignature: Bool { settings.admin.demandsSignature }
    var region: String { settings.names.region }

    /// Whether a session's key is still what it was signed with: replacing a secret that leaked signs everybody out.
    func knows(_ session: ConsoleSessions.Session) -> Bool {
        settings.accessKeys.contains { $0.id == session.accessKeyID && $0.secret == session.secret }
    }

    func accessKey(_ id: String) -> AccessKeySettings? { settings.accessKeys.first { $0.id == id } }

    /// What the key may do on every stage.
    func actions(of accessKeyID: String) -> [AccessAction] {
        guard let policy = accessKey(accessKeyID).map(AccessPolicy.init) else { return [] }
        return AccessAction.all.filter(policy.allowsEverywhere)
    }

    /// Whether a key has the secret that it had, and may still do this on every stage.
    func admits(_ key: AccessKeySettings, for action: AccessAction) -> Bool {
        guard let known = accessKey(key.id), known.secret == key.secret else { return false }
        return AccessPolicy(known).allowsEverywhere(action)
    }

    /// - Parameters:
    ///   - action: nil for what any key may ask.
    ///   - stages: those that the request concerns.
    /// - Returns: the access key that asks; empty where no signature is demanded.
    @discardableResult
    func check(
        _ request: HTTPRequest, for action: AccessAction?, _ sessions: ConsoleSessions, now: WallTime,
        on stages: () throws(APIError) -> [String]
    ) throws(APIError) -> String {
        try checkOrigin(of: request)
        guard settings.admin.demandsSignature else { return "" }
        let id = try caller(of: request, for: action, sessions, now: now)
        guard let key = accessKey(id) else { throw .unknownAccessKey }
        guard let action, let denial = try AccessPolicy(key).denial(of: action, on: stages) else { return id }
        throw .denied(action, denial)
    }

    /// The access key by which the request comes: it has signed it, or signed in at the console.
    private func caller(
        of request: HTTPRequest, for action: AccessAction?, _ sessions: ConsoleSessions, now: WallTime
    ) throws(APIError) -> String {
        if request.headers["Authorization"] == nil, let session = sessions.session(of: request, now: now) {
            // A key that was taken out of the configuration has no sessions any more.
            guard knows(session) else { throw .unknownAccessKey }
            let shown = request.headers[ConsoleSessions.csrfHeader] ?? ""
            guard action?.isReading ?? true || ConstantTime.isEqual(Array(shown.utf8), Array(session.csrfToken.utf8)) else {
                throw .accessDenied("The console's request does not show the session's token: reload the page.")
            }
            return session.accessKeyID
        }
        return try signer(of: request, for: action, now: now).id
    }

    @discardableResult
    func checkHost(of request: HTTPRequest) throws(APIError) -> String {
        guard let authority = request.authority, isOurs(authority) else {
            throw .accessDenied("The Host header names another server: add the name to admin.hosts.")
        }
        return authority
    }

    /// For health and metrics: kubelet and Prometheus ask by the address of the pod, and balancers by HTTP/1.0 without a
    /// name: only a name can be rebound, so that any address will do. A browser always names a host.
    func checkHealthHost(of request: HTTPRequest) throws(APIError) {
        guard let authority = request.authority, Self.address(in: authority) == nil else { return }
        try checkHost(of: request)
    }

    /// The host is ours, and a browser says that the request comes from a page of ours.
    func checkOrigin(of request: HTTPRequest) throws(APIError) {
        let authority = try checkHost(of: request)
        if let origin = request.headers["Origin"], origin != "http://\(authority)", origin != "https://\(authority)" {
            throw .accessDenied("The request comes from a page of another origin.")
        }
        // Browsers send no Origin with a plain GET, but say this of it.
        if let site = request.headers["Sec-Fetch-Site"], site != "same-origin", site != "none" {
            throw .accessDenied("The request comes from a page of another site.")
        }
    }

    /// The access key that signed the request.
    func signer(of request: HTTPRequest, for action: AccessAction? = nil, now: WallTime) throws(APIError) -> AccessKeySettings {
        let service = action?.signingName ?? "ivs"
        let verifier = SignatureV4Verifier(region: region, services: [service])
        do throws(SignatureV4Error) {
            let id = try verifier.verify(request, now: now) { accessKey($0)?.secret }
            guard let key = accessKey(id) else { throw SignatureV4Error.unknownAccessKey }
            return key
        } catch {
            throw APIError(error, region: region, service: service)
        }
    }

    /// Loopback and the configured names, whatever their spelling: a page that rebinds its own name to us has another one.
    private func isOurs(_ authority: String) -> Bool {
        let hosts = settings.admin.hosts
        if let address = Self.address(in: authority) {
            return address.isLoopback || hosts.contains { Self.address(in: $0) == address }
        }
        var host = authority.lowercased()
        if let colon = host.lastIndex(of: ":") { host = String(host[..<colon]) }
        return host == "localhost" || hosts.contains { $0.lowercased() == host }
    }

    /// The host of an authority that is an address, with or without a port; nil when it is a name.
    private static func address(in authority: String) -> IPAddress? {
        if let address = SocketAddress(authority) { return address.ip }
        guard authority.hasPrefix("["), authority.hasSuffix("]") else { return IPAddress(authority) }
        return IPAddress(authority.dropFirst().dropLast())
    }
}

extension APIError {
    fileprivate static let unknownAccessKey = APIError(
        type: "UnrecognizedClientException", status: 403, message: "The access key id is not known here.")

    /// With the codes that AWS gives, which SDKs know; all 403.
    /// - Parameters:
    ///   - region: for which a request is to be signed, as is `service`.
    fileprivate init(_ error: SignatureV4Error, region: String, service: String) {
        let (type, words) =
            switch error {
            case .missing:
                (
                    "MissingAuthenticationTokenException",
                    "The request is not signed in its Authorization header: configure an access key."
                )
            case .malformed: ("IncompleteSignatureException", "The Authorization header is not AWS Signature Version 4.")
            case .unknownAccessKey: (Self.unknownAccessKey.type, Self.unknownAccessKey.message)
            case .wrongScope:
                (
                    "InvalidSignatureException",
                    "Signed for another region or service: sign for the region \(region) and the service \(service)."
                )
            case .skewed: ("InvalidSignatureException", "The signature's time is over 5 minutes off: set the clock.")
            case .unsigned(let what): ("InvalidSignatureException", "The signature does not cover the \(what).")
            case .mismatch:
                (
                    "InvalidSignatureException",
                    "The signature is wrong: check the secret access key, and that a proxy on the way keeps Host and path."
                )
            }
        self.init(type: type, status: 403, message: words)
    }
}
