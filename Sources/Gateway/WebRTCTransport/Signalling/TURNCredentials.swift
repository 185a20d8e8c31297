import OpenSSL
import Settings
import Wire

/// Link headers for ICE servers, with TURN's time-limited credentials: user `expiry:name`, password HMAC-SHA1 of it in base64.
enum TURNCredentials {
    /// One header field per server, URL first and values quoted: OBS splits on every comma.
    static func link(_ url: String) -> String { "<\(url)>; rel=\"ice-server\"" }

    /// With credentials of the settings' secret for that user.
    static func link(_ url: String, _ settings: WHIPSettings, user: String, now: WallTime) -> String {
        let name = "\(now.secondsSince1970 + settings.turnLifetime.components.seconds):\(user)"
        let password = Base64.standard.text(of: HMAC.sha1(key: settings.turnSecret.reveal(), Array(name.utf8)))
        return "\(link(url)); username=\"\(name)\"; credential=\"\(password)\"; credential-type=\"password\""
    }
}
