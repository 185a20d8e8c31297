import OpenSSL
public import Wire

/// Signs requests to stores that speak S3 by AWS Signature Version 4: header form, with the body's real hash.
///
/// `UNSIGNED-PAYLOAD`, trailers and `aws-chunked` are what stores beside AWS' own refuse; a plain hash all of them take.
///
///     let signer = SignatureV4Signer(credentials, region: "us-east-1")
///     let headers = signer.headers(method: "PUT", host: host, path: path, payloadHash: hash, now: now)
public struct SignatureV4Signer: Sendable {
    /// Who signs.
    public struct Credentials: Equatable, Sendable {
        public var accessKeyID: String
        public var secret: Secret
        /// Of credentials that were given for a time; else empty.
        public var sessionToken: Secret

        public init(accessKeyID: String, secret: Secret, sessionToken: Secret = Secret("")) {
            (self.accessKeyID, self.secret, self.sessionToken) = (accessKeyID, secret, sessionToken)
        }
    }

    public var credentials: Credentials
    public var region: String
    public var service: String

    public init(_ credentials: Credentials, region: String, service: String = "s3") {
        (self.credentials, self.region, self.service) = (credentials, region, service)
    }

    /// The fields to send: those given, and what the signature adds. `Host` is signed and left to the transfer.
    ///
    /// - Parameters:
    ///   - host: with its port, where that is not the scheme's own: as the transfer says it.
    ///   - path: percent-encoded, once, as it goes out.
    ///   - headers: further fields, which are signed.
    ///   - payloadHash: SHA-256 of the body, 32 bytes.
    public func headers(
        method: String, host: String, path: String, headers: [(name: String, value: String)] = [], payloadHash: [UInt8],
        now: WallTime
    ) -> [(name: String, value: String)] {
        let (stamp, hash) = (CivilTime(now).iso8601Basic, String(hexadecimal: payloadHash))
        var fields = headers + [(name: "X-Amz-Content-Sha256", value: hash), (name: "X-Amz-Date", value: stamp)]
        if !credentials.sessionToken.isEmpty {
            fields.append((name: "X-Amz-Security-Token", value: credentials.sessionToken.revealText()))
        }
        let signed = (fields + [(name: "Host", value: host)]).map { ($0.name.lowercased(), $0.value) }.sorted { $0.0 < $1.0 }
        let names = signed.map(\.0).joined(separator: ";")
        let canonical = CanonicalRequest(method: method, path: path, query: "", fields: signed, payloadHash: hash)
        let scope = SignatureV4Scope(date: String(stamp.prefix(8)), region: region, service: service)
        let signature = scope.signature(of: canonical, stamp: stamp, secret: credentials.secret)
        let authorization =
            "\(SignatureV4Authorization.scheme) Credential=\(credentials.accessKeyID)/\(scope.text), SignedHeaders=\(names), "
            + "Signature=\(String(hexadecimal: signature))"
        return fields + [(name: "Authorization", value: authorization)]
    }
}

/// For which day, region and service a signature is good.
struct SignatureV4Scope {
    /// `20250102`
    var date: String
    var region: String
    var service: String

    var text: String { parts.joined(separator: "/") }

    private var parts: [String] { [date, region, service, "aws4_request"] }

    /// - Parameter stamp: the moment, as `X-Amz-Date` says it.
    func signature(of request: CanonicalRequest, stamp: String, secret: Secret) -> [UInt8] {
        let lines = [SignatureV4Authorization.scheme, stamp, text, String(hexadecimal: Digest.sha256(request.bytes))]
        let key = parts.reduce(Array("AWS4".utf8) + secret.reveal()) { HMAC.sha256(key: $0, Array($1.utf8)) }
        return HMAC.sha256(key: key, Array(lines.joined(separator: "\n").utf8))
    }
}
