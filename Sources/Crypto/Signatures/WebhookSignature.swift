import OpenSSL
public import Wire

/// Signs what the gateway posts: HMAC-SHA256 over `<seconds>.<body>`, so that a receiver can refuse forgeries and old requests.
public enum WebhookSignature {
    private static let headerName = "Stagedoor-Signature"

    /// The headers of a JSON body; without a secret it is not signed.
    /// - Parameter seconds: since 1970; receivers refuse what is over 5 minutes old.
    public static func headers(
        of body: [UInt8], at seconds: Int64, secret: Secret
    ) -> [(name: String, value: String)] {
        let type = (name: "Content-Type", value: "application/json")
        guard !secret.isEmpty else { return [type] }
        let code = HMAC.sha256(key: secret.reveal(), Array("\(seconds).".utf8) + body)
        return [type, (name: headerName, value: "t=\(seconds),v1=\(String(hexadecimal: code))")]
    }
}
