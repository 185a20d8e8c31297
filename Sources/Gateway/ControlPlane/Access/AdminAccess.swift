import HTTP
import Signatures
import Store
import Wire

/// Who may ask: the right name, from no foreign web page, signed by one of the access keys (design note 24).
struct AdminAccess {
    private let settings: ControlPlaneSettings
    private let verifier: SignatureV4Verifier

    init(_ settings: ControlPlaneSettings) {
        self.settings = settings
        verifier = SignatureV4Verifier(region: settings.names.region)
    }

    /// - Parameter isReading: whether the request changes nothing.
    func check(_ request: HTTPRequest, isReading: Bool, now: WallTime) throws(APIError) {
        guard let authority = request.authority, isOurs(authority) else {
            throw .accessDenied("The Host header names another server: add the name to admin.hosts.")
        }
        if let origin = request.headers["Origin"], origin != "http://\(authority)", origin != "https://\(authority)" {
            throw .accessDenied("The request comes from a page of another origin.")
        }
        guard settings.demandsSignature else { return }
        let id: String
        do {
            id = try verifier.verify(request, now: now) { id in settings.accessKeys.first { $0.id == id }?.secret }
        } catch {
            throw error.apiError
        }
        guard isReading || settings.accessKeys.first(where: { $0.id == id })?.isReadOnly != true else {
            throw .accessDenied("This access key may only Get and List.")
        }
    }

    /// Loopback, whatever its spelling, and the configured names: a page that rebinds its own name to us has another one.
    private func isOurs(_ authority: String) -> Bool {
        var host = authority.lowercased()
        if let address = SocketAddress(host) { return address.ip.isLoopback || settings.hosts.contains("\(address.ip)") }
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = String(host[..<colon]) }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return host == "localhost" || IPAddress(host)?.isLoopback == true || settings.hosts.contains(host)
    }
}

extension SignatureV4Error {
    /// The codes that AWS gives, which SDKs know; all 403.
    fileprivate var apiError: APIError {
        let (type, words) =
            switch self {
            case .missing: ("MissingAuthenticationTokenException", "The request is not signed: configure an access key.")
            case .malformed: ("IncompleteSignatureException", "The Authorization header is not AWS Signature Version 4.")
            case .unknownAccessKey: ("UnrecognizedClientException", "The access key id is not known here.")
            case .wrongScope:
                ("InvalidSignatureException", "Signed for another region or service: set the region of this gateway.")
            case .skewed: ("InvalidSignatureException", "The signature's time is over 5 minutes off: set the clock.")
            case .unsigned(let what): ("InvalidSignatureException", "The signature does not cover \(what).")
            case .mismatch: ("InvalidSignatureException", "The signature is wrong: check the secret access key.")
            }
        return APIError(type: type, status: 403, message: words)
    }
}
