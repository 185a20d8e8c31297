import HTTP
import JSON
import Settings
import Wire

/// Signing in at the console, and out: once by signature, which the page makes without sending the secret, then by cookie.
struct ConsoleSignIn {
    static let path = "/v1/console/session"

    /// Who is signed in.
    private(set) var sessions = ConsoleSessions()

    /// GET answers who is signed in, POST signs in, DELETE signs out.
    mutating func answer(_ request: HTTPRequest, _ access: AdminAccess, now: WallTime) -> HTTPResponse {
        do throws(APIError) {
            switch request.method {
            case .get: return try currentSession(request, access, now: now)
            case .post: return try signIn(request, access, now: now)
            case .delete: return try signOut(request, access)
            default:
                return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, POST, DELETE"])
            }
        } catch {
            return error.response
        }
    }

    private func currentSession(_ request: HTTPRequest, _ access: AdminAccess, now: WallTime) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        let session = sessions.session(of: request, now: now)
        let isKnown = session.map(access.knows) ?? false
        var object: JSONObject = [
            "needsSignIn": .bool(access.demandsSignature && !isKnown), "region": .string(access.region),
            "authentication": .bool(access.demandsSignature),
        ]
        if let session, isKnown {
            object["accessKeyId"] = .string(session.accessKeyID)
            object["csrfToken"] = .string(session.csrfToken)
            object["actions"] = Self.names(of: access.actions(of: session.accessKeyID))
        } else if !access.demandsSignature {
            object["actions"] = Self.names(of: AccessAction.all)
        }
        return HTTPResponse(.ok, json: .object(object), headers: ["Cache-Control": "no-store"])
    }

    private mutating func signIn(_ request: HTTPRequest, _ access: AdminAccess, now: WallTime) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        let key = try access.signer(of: request, now: now)
        let (cookie, session) = sessions.begin(for: key, now: now)
        let isSecure = request.headers["Origin"]?.hasPrefix("https://") == true
        return HTTPResponse(
            .ok,
            json: [
                "accessKeyId": .string(key.id), "csrfToken": .string(session.csrfToken),
                "actions": Self.names(of: access.actions(of: key.id)),
            ],
            headers: [
                "Cache-Control": "no-store",
                "Set-Cookie": Self.cookie(cookie, for: request, lifetime: ConsoleSessions.lifetime, isSecure: isSecure),
            ])
    }

    private mutating func signOut(_ request: HTTPRequest, _ access: AdminAccess) throws(APIError) -> HTTPResponse {
        try access.checkOrigin(of: request)
        sessions.end(request)
        let cookie = Self.cookie("", for: request, lifetime: .zero, isSecure: false)
        return HTTPResponse(.noContent, headers: ["Set-Cookie": cookie])
    }

    private static func names(of actions: [AccessAction]) -> JSONValue { .array(actions.map { .string($0.name) }) }

    private static func cookie(_ value: String, for request: HTTPRequest, lifetime: Duration, isSecure: Bool) -> String {
        let name = ConsoleSessions.cookieName(for: request)
        return Cookie(name: name, value: value, maximumAge: lifetime, isSecure: isSecure).fieldValue
    }
}
