public import HTTP
import OpenSSL
public import Wire

/// Checks requests signed by AWS Signature Version 4, as the AWS CLI and SDKs send them: header form, body hashed.
///
/// - Note: All keys are tried in the same way and the comparison looks at every byte, so that time tells nothing.
///
///     let verifier = SignatureV4Verifier(region: "us-east-1")
///     let accessKey = try verifier.verify(request, now: now) { id in secrets[id] }
public struct SignatureV4Verifier: Sendable {
    /// How far the signer's clock may be from ours.
    public static let maximumSkew = Duration.seconds(300)

    /// As clients are configured.
    public var region: String
    /// Signing names of the service: `ivs`, and what some SDKs take from the endpoint.
    public var services: Set<String>

    /// A verifier for one region.
    public init(region: String, services: Set<String> = ["ivs"]) { (self.region, self.services) = (region, services) }

    /// - Parameter secret: the secret access key of an access key id; nil when there is none.
    /// - Returns: the access key id that signed the request.
    public func verify(
        _ request: HTTPRequest, now: WallTime, secret: (String) -> Secret?
    ) throws(SignatureV4Error) -> String {
        guard let header = request.headers["Authorization"] else { throw .missing }
        let authorization = try SignatureV4Authorization(parsing: header)
        guard authorization.region == region, services.contains(authorization.service) else { throw .wrongScope }
        let stamp = try timestamp(of: request, authorization, now: now)
        try checkSignedHeaders(request, authorization)
        let payloadHash = try payloadHash(of: request)
        // An unknown key is worked on like a known one: how long it takes does not tell which ids exist.
        let known = secret(authorization.accessKeyID)
        let scope = SignatureV4Scope(
            date: authorization.date, region: authorization.region, service: authorization.service)
        var isEqual = false
        for path in CanonicalRequest.spellings(ofPath: request.path) {
            let canonical = try CanonicalRequest(
                request, path: path, signedHeaders: authorization.signedHeaders, payloadHash: payloadHash)
            let expected = scope.signature(of: canonical, stamp: stamp, secret: known ?? Secret("unknown"))
            if ConstantTime.isEqual(expected, authorization.signature) { isEqual = true }
        }
        guard known != nil else { throw .unknownAccessKey }
        guard isEqual else { throw .mismatch }
        return authorization.accessKeyID
    }

    /// `X-Amz-Date`, in its own form, of the scope's day and near our clock.
    private func timestamp(
        of request: HTTPRequest, _ authorization: SignatureV4Authorization, now: WallTime
    ) throws(SignatureV4Error) -> String {
        guard let stamp = request.headers["X-Amz-Date"], stamp.hasPrefix(authorization.date),
            let time = WallTime(iso8601Basic: stamp)
        else { throw .malformed }
        let skew = time - now
        guard skew <= Self.maximumSkew, skew >= .zero - Self.maximumSkew else { throw .skewed }
        return stamp
    }

    /// Host, and every `x-amz-` header that came, must be under the signature; not that of the hash, which is there itself.
    private func checkSignedHeaders(
        _ request: HTTPRequest, _ authorization: SignatureV4Authorization
    ) throws(SignatureV4Error) {
        let signed = Set(authorization.signedHeaders)
        guard signed.contains("host") else { throw .unsigned("host") }
        for field in request.headers.fields {
            let name = field.name.lowercased()
            guard name.hasPrefix("x-amz-"), name != "x-amz-content-sha256", !signed.contains(name) else { continue }
            throw .unsigned(name)
        }
    }

    /// The body's hash; a client that sent the hash along must have sent this one, and may not leave the body unsigned.
    private func payloadHash(of request: HTTPRequest) throws(SignatureV4Error) -> String {
        let hash = String(hexadecimal: Digest.sha256(request.body))
        if let claimed = request.headers["X-Amz-Content-Sha256"], claimed != hash { throw .unsigned("body") }
        return hash
    }
}

/// Why a signed request is not believed. Clients are told apart what they can mend: the rest is one answer.
public enum SignatureV4Error: Error, Equatable, Sendable {
    /// No `Authorization`, or of another scheme.
    case missing
    /// Not the form that AWS Signature Version 4 prescribes.
    case malformed
    /// No such access key id; told after as much work as a wrong signature takes.
    case unknownAccessKey
    /// Signed for another region or service.
    case wrongScope
    /// Further from our clock than `SignatureV4Verifier.maximumSkew`.
    case skewed
    /// A header that must be signed is not, or the body is not the one that was signed.
    case unsigned(String)
    /// Signed with another secret, or the request was changed.
    case mismatch
}
