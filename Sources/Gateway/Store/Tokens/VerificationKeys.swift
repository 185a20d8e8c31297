import EventLoop
import OpenSSL

/// Public keys ready for use, by ARN; parsed once and forgotten when the state has them no more.
final class VerificationKeys: Sendable {
    private let authority: TokenAuthority
    private let parsed = Lock<[String: ES384PublicKey]>([:])

    init(authority: TokenAuthority) { self.authority = authority }

    func key(_ arn: String, in state: PlatformState) -> ES384PublicKey? {
        if arn == authority.keyID { return authority.publicKey }
        guard let record = state.publicKeys[arn] else { return nil }
        if let key = parsed.withLock({ $0[arn] }) { return key }
        guard let key = try? ES384PublicKey(pem: Array(record.material.utf8)) else { return nil }
        parsed.withLock { parsed in
            parsed = parsed.filter { state.publicKeys[$0.key] != nil }
            parsed[arn] = key
        }
        return key
    }
}
