import Glibc
import OpenSSL
import Testing
import Wire

@Suite("Identities")
struct IdentityTests {
    let now = WallTime(secondsSince1970: Int64(time(nil)))

    @Test func `a chain is in order when each certificate is signed by the next`() throws {
        let authority = try Identity.makeAuthority(commonName: "CA", now: now, validFor: .seconds(3_600))
        let stranger = try Identity.makeAuthority(commonName: "CA", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "leaf", dnsNames: ["a.example"], addresses: [], now: now, validFor: .seconds(3_600))
        func chain(_ issuers: [Certificate]) -> Identity {
            Identity(certificate: leaf.certificate, chain: issuers, key: leaf.key)
        }
        #expect(chain([]).isChainInOrder)
        #expect(chain([authority.certificate]).isChainInOrder)
        #expect(!chain([stranger.certificate]).isChainInOrder)
        #expect(!chain([stranger.certificate, authority.certificate]).isChainInOrder)
    }
}
