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
        let password = base64(HMAC.sha1(key: settings.turnSecret.reveal(), Array(name.utf8)))
        return "\(link(url)); username=\"\(name)\"; credential=\"\(password)\"; credential-type=\"password\""
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? alphabet[word >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
