import DTLS
import OpenSSL
import Wire

/// The cryptography of a WHIP set-up, which every server pays.
enum SetUpFloor {
    private static let count = 40

    /// CPU milliseconds of one ES384 verification.
    static func tokenVerification() throws -> Double {
        let key = try ES384PrivateKey.generate()
        let message = [UInt8](repeating: 0x61, count: 300)
        let signature = try key.sign(message)
        var clock = FloorClock()
        for _ in 0..<count { _ = clock.measure { key.publicKey.isValid(signature, over: message) } }
        return clock.milliseconds / Double(count)
    }

    /// CPU milliseconds of the server's half of one DTLS handshake with P-256 certificates on both sides.
    static func dtlsHandshake() throws -> Double {
        let (ours, theirs) = (try DTLSCertificate.make(), try DTLSCertificate.make())
        let (serverContext, clientContext) = (try DTLSContext(ours), try DTLSContext(theirs))
        var clock = FloorClock()
        for _ in 0..<count {
            let client = try DTLSConnection(clientContext, role: .client, expecting: [fingerprint(of: ours)])
            let server = try clock.measure {
                try DTLSConnection(serverContext, role: .server, expecting: [fingerprint(of: theirs)])
            }
            try client.start()
            var flight = client.takeOutgoing()
            while !flight.isEmpty {
                let answer = try clock.measure { try deliver(flight, to: server) }
                flight = try deliver(answer, to: client)
            }
        }
        return clock.milliseconds / Double(count)
    }

    private static func fingerprint(of certificate: DTLSCertificate) -> CertificateFingerprint {
        CertificateFingerprint(hash: "sha-256", bytes: certificate.fingerprint)
    }

    private static func deliver(_ flight: [[UInt8]], to connection: DTLSConnection) throws -> [[UInt8]] {
        for datagram in flight { _ = try unsafe datagram.withUnsafeBytes { try unsafe connection.receive($0) } }
        return connection.takeOutgoing()
    }
}
