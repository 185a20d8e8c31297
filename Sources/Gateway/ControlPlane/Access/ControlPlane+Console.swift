public import HTTP
import JSON
import Wire

/// Signing in at the console: once by signature, which the page makes without sending the secret, then by cookie.
extension ControlPlane {
    /// `/v1/console/session`: GET tells who is signed in, POST signs in, DELETE signs out; nil for other paths.
    public func consoleSession(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.path == "/v1/console/session" else { return nil }
        do throws(APIError) {
            switch request.method {
            case .get: return try tellSession(request)
            case .post: return try signIn(request)
            case .delete: return try signOut(request)
            default:
                return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, POST, DELETE"])
            }
        } catch {
            return error.response
        }
    }

    private func tellSession(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        let session = sessions.session(of: request, now: wallNow())
        let isKnown = session.map { access.knows($0.accessKeyID) } ?? false
        var object: JSONObject = [
            "needsSignIn": .bool(access.demandsSignature && !isKnown), "region": .string(access.region),
            "authentication": .bool(access.demandsSignature),
        ]
        if let session, isKnown {
            object["accessKeyId"] = .string(session.accessKeyID)
            object["csrfToken"] = .string(session.csrfToken)
            object["isReadOnly"] = .bool(access.isReadOnly(session.accessKeyID))
        }
        return HTTPResponse(.ok, json: .object(object), headers: ["Cache-Control": "no-store"])
    }

    private func signIn(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        let id = try access.signer(of: request, now: wallNow())
        let (cookie, session) = sessions.begin(for: id, now: wallNow())
        let isSecure = request.headers["Origin"]?.hasPrefix("https://") == true
        return HTTPResponse(
            .ok,
            json: [
                "accessKeyId": .string(id), "csrfToken": .string(session.csrfToken), "isReadOnly": .bool(access.isReadOnly(id)),
            ],
            headers: [
                "Cache-Control": "no-store",
                "Set-Cookie": Self.cookie(cookie, lifetime: ConsoleSessions.lifetime, isSecure: isSecure),
            ])
    }

    private func signOut(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        sessions.end(request)
        return HTTPResponse(.noContent, headers: ["Set-Cookie": Self.cookie("", lifetime: .zero, isSecure: false)])
    }

    private static func cookie(_ value: String, lifetime: Duration, isSecure: Bool) -> String {
        Cookie(name: ConsoleSessions.cookieName, value: value, maximumAge: lifetime, isSecure: isSecure).fieldValue
    }
}
