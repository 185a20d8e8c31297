import HTTP
import OpenSSL
import Settings
import Wire

/// Who is signed in at the console: a cookie stands for an access key that signed once. In memory only, and bounded.
///
/// The cookie is HttpOnly and SameSite=Strict; what changes something needs the session's token in a header field as well.
struct ConsoleSessions {
    struct Session {
        var accessKeyID: String
        /// By which it signed.
        var secret: Secret
        var expiresAt: WallTime
        /// Shown in `csrfHeader` by whoever wants to change something.
        var csrfToken: String
    }

    static let csrfHeader = "X-Stagedoor-CSRF"
    static let lifetime = Duration.seconds(12 * 3_600)
    static let maximumCount = 64
    /// Of one key: so nobody who may sign in can sign others out by it.
    static let maximumCountOfKey = 8

    /// By SHA-256 of the cookie, so that looking one up takes the same time however much of it is right.
    private var sessions: [[UInt8]: Session] = [:]

    /// Begins a session; the oldest of too many of the key ends, then the oldest of too many of all.
    /// - Returns: the cookie's value.
    mutating func begin(for key: AccessKeySettings, now: WallTime) -> (cookie: String, session: Session) {
        sessions = sessions.filter { $0.value.expiresAt > now }
        endOldest(beyond: Self.maximumCountOfKey) { $0.accessKeyID == key.id }
        endOldest(beyond: Self.maximumCount) { _ in true }
        let cookie = Self.secret()
        let session = Session(
            accessKeyID: key.id, secret: key.secret, expiresAt: now + Self.lifetime, csrfToken: Self.secret())
        sessions[Self.key(cookie)] = session
        return (cookie, session)
    }

    /// Leaves room for one more.
    private mutating func endOldest(beyond count: Int, where isCounted: (Session) -> Bool) {
        let counted = sessions.filter { isCounted($0.value) }
        guard counted.count >= count, let oldest = counted.min(by: { $0.value.expiresAt < $1.value.expiresAt }) else { return }
        sessions[oldest.key] = nil
    }

    mutating func end(_ request: HTTPRequest) {
        if let cookie = request.cookie(Self.cookieName(for: request)) { sessions[Self.key(cookie)] = nil }
    }

    /// The session of the request's cookie.
    func session(of request: HTTPRequest, now: WallTime) -> Session? {
        guard let cookie = request.cookie(Self.cookieName(for: request)), let session = sessions[Self.key(cookie)],
            session.expiresAt > now
        else { return nil }
        return session
    }

    /// With the port that the browser asks at: it keeps one cookie of a name for all ports of a host (RFC 6265 §8.5), and by
    /// tunnels the consoles of several nodes are at one.
    static func cookieName(for request: HTTPRequest) -> String {
        let port = (request.authority ?? "").split(separator: ":").last.flatMap { UInt16($0) }
        return port.map { "stagedoor_console_\($0)" } ?? "stagedoor_console"
    }

    private static func key(_ cookie: String) -> [UInt8] { Digest.sha256(Array(cookie.utf8)) }

    private static func secret() -> String {
        String(hexadecimal: Random.bytes(count: 32))
    }
}
