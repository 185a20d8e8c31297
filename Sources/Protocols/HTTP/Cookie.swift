/// A cookie to set (RFC 6265 §4.1), always HttpOnly, SameSite=Strict and for all paths: ours hold console sessions.
public struct Cookie: Equatable, Sendable {
    /// A token (RFC 9110 §5.6.2).
    public var name: String
    /// Without spaces, quotes, commas and semicolons; ours are hexadecimal.
    public var value: String
    /// Whole seconds; nil lives until the browser ends, zero removes the cookie.
    public var maximumAge: Duration?
    /// Sent back over TLS only.
    public var isSecure: Bool

    /// From its parts.
    public init(name: String, value: String, maximumAge: Duration? = nil, isSecure: Bool) {
        (self.name, self.value, self.maximumAge, self.isSecure) = (name, value, maximumAge, isSecure)
    }

    /// The value of the `Set-Cookie` field; an age of zero removes the cookie.
    public var fieldValue: String {
        var text = "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict"
        if let maximumAge { text += "; Max-Age=\(maximumAge.components.seconds)" }
        return isSecure ? text + "; Secure" : text
    }
}

extension HTTPRequest {
    /// The value of the cookie called `name` that the client sent (RFC 6265 §5.4); nil when there is none.
    public func cookie(_ name: String) -> String? {
        for pair in headers.values(of: "Cookie").flatMap({ $0.utf8.split(separator: UInt8(ascii: ";")) }) {
            let pair = Substring(pair).trimmingWhiteSpace()
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), pair.utf8[..<equals].elementsEqual(name.utf8)
            else { continue }
            return String(pair[pair.utf8.index(after: equals)...])
        }
        return nil
    }
}
