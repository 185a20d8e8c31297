import COpenSSL
import Glibc
import OpenSSL
import Synchronization
import Testing
import Wire

@Suite("TLS contexts")
struct TLSContextTests {
    private static let now = WallTime(secondsSince1970: Int64(time(nil)))

    /// As a reload with a broken pair does.
    @Test func `a server that cannot be made leaves nothing behind`() throws {
        let one = try Identity.makeAuthority(commonName: "one", now: Self.now, validFor: .seconds(60))
        let other = try Identity.makeAuthority(commonName: "other", now: Self.now, validFor: .seconds(60))
        let broken = Identity(certificate: one.certificate, key: other.key)
        let cases: [(Identity, [Identity])] = [(one, [other, broken]), (broken, [one]), (broken, [])]
        for (own, named) in cases {
            let left = LivingContexts.left {
                #expect(throws: OpenSSLError.self) { try TLSContext(server: own, named: named) }
            }
            #expect(left == 0)
        }
        var whole: TLSContext?
        let made = LivingContexts.left { whole = try? TLSContext(server: one, named: [other]) }
        #expect(whole != nil && made == 2)
    }
}

extension TLSContextTests {
    /// As after a change from RSA to ECDSA of which one file is written: OpenSSL's own words were "no certificate assigned".
    @Test func `a key of another kind, or another one, is told to be none of the certificate's`() throws {
        let own = try Identity.makeAuthority(commonName: "one", now: Self.now, validFor: .seconds(60))
        let other = try Identity.makeAuthority(commonName: "other", now: Self.now, validFor: .seconds(60))
        let context = try #require(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil))
        defer { EVP_PKEY_CTX_free(context) }
        var handle: OpaquePointer?
        let isMade = EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_keygen(context, &handle) == 1
        try #require(isMade)
        let ofAnotherKind = PrivateKey(owning: try #require(handle))
        for key in [ofAnotherKind, other.key] {
            let error = #expect(throws: OpenSSLError.self) {
                try TLSContext(server: Identity(certificate: own.certificate, key: key))
            }
            #expect(error?.description == "the private key is not the certificate's")
        }
    }
}

/// Counts this thread's SSL_CTXs by OpenSSL's own callbacks.
private enum LivingContexts {
    private static let thread = Atomic<UInt>(0)
    private static let count = Atomic<Int>(0)

    /// How many `body` makes and does not free.
    static func left(by body: () -> Void) -> Int {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        count.store(0, ordering: .relaxed)
        _ = registration
        body()
        return count.load(ordering: .relaxed)
    }

    /// Once for the process: each further one would count again.
    private static let registration = CRYPTO_get_ex_new_index(
        CRYPTO_EX_INDEX_SSL_CTX, 0, nil,
        { _, _, _, _, _, _ in LivingContexts.note(1) }, nil, { _, _, _, _, _, _ in LivingContexts.note(-1) })

    private static func note(_ change: Int) {
        if thread.load(ordering: .relaxed) == UInt(pthread_self()) { count.add(change, ordering: .relaxed) }
    }
}
