import COpenSSL
import Foundation
import OpenSSL
import TestSupport
import Testing
import Wire

@testable import DTLS

@Suite("DTLS association (RFC 6347, RFC 5764)")
struct DTLSConnectionTests {
    @Test(arguments: [0, 1, 2, 3])
    func `both ends come to the same keys, with GCM first, whatever datagram is lost`(_ lost: Int) throws {
        var pair = try Pair()
        try pair.run(dropping: lost)
        let keys = try #require(pair.clientKeys)
        #expect(keys == pair.serverKeys)
        #expect(pair.profile == 7)
        #expect(keys.count == 56)
    }

    @Test func `sends no datagram above 1,200 bytes`() throws {
        var pair = try Pair()
        try pair.run()
        #expect(pair.largestDatagram <= 1_200)
    }

    @Test func `the server refuses a certificate that the offer did not name`() throws {
        var pair = try Pair(ofClient: { _ in Self.wrong })
        #expect(throws: DTLSError.fingerprintMismatch) { try pair.run() }
        #expect(pair.serverKeys == nil)
        let alert = try #require(pair.server.takeOutgoing().last)
        #expect(alert.first == 21)
    }

    @Test func `the client refuses a certificate that the offer did not name`() throws {
        var pair = try Pair(ofServer: { _ in Self.wrong })
        #expect(throws: DTLSError.fingerprintMismatch) { try pair.run() }
        #expect(pair.clientKeys == nil && pair.serverKeys == nil)
        let alert = try #require(pair.client.takeOutgoing().last)
        #expect(alert.first == 21)
    }

    private static let wrong = CertificateFingerprint(hash: "sha-256", bytes: [UInt8](repeating: 7, count: 32))

    /// The digest is the certificate's own: the hash alone is at fault.
    @Test(arguments: ["sha-1", "md5"])
    func `a weak hash is never a match`(_ hash: String) throws {
        var pair = try Pair(ofClient: { made in
            let digest = hash == "md5" ? Digest.md5(made.certificate) : Digest.sha1(made.certificate)
            return CertificateFingerprint(hash: hash, bytes: digest)
        })
        #expect(throws: DTLSError.fingerprintMismatch) { try pair.run() }
    }

    @Test func `a stronger hash is a match as well`() throws {
        var pair = try Pair(ofClient: { CertificateFingerprint(hash: "sha-384", bytes: Digest.sha384($0.certificate)) })
        try pair.run()
        #expect(pair.clientKeys != nil && pair.clientKeys == pair.serverKeys)
    }

    @Test func `without a common SRTP profile there are no keys`() throws {
        var pair = try Pair(clientProfiles: "SRTP_AEAD_AES_128_GCM", serverProfiles: "SRTP_AES128_CM_SHA1_80")
        #expect(throws: DTLSError.noSRTPProfile) { try pair.run() }
        #expect(pair.clientKeys == nil && pair.serverKeys == nil)
    }

    @Test func `close_notify of one end is seen by the other`() throws {
        var pair = try Pair()
        try pair.run()
        pair.client.close()
        var events: [DTLSConnection.Event] = []
        for datagram in pair.client.takeOutgoing() { events.append(try pair.server.receive(datagram)) }
        #expect(events == [.closedByPeer])
    }

    /// Whatever a peer takes the association for: what was left of such a record was read in place of the next datagram.
    @Test func `close_notify is seen behind application data`() throws {
        var pair = try Pair()
        try pair.run()
        let data = [UInt8](repeating: 7, count: 1_000)
        #expect(SSL_alloc_buffers(pair.client.ssl) == 1)
        #expect(SSL_write(pair.client.ssl, data, CInt(data.count)) == CInt(data.count))
        #expect(try pair.client.takeOutgoing().map { try pair.server.receive($0) } == [.none])
        pair.client.close()
        #expect(try pair.client.takeOutgoing().map { try pair.server.receive($0) } == [.closedByPeer])
    }

    /// What is left of a timeout, and with it what has passed since `began`: however long this thread had to wait in between.
    private func timeout(of connection: DTLSConnection, since began: ContinuousClock.Instant) throws -> (Duration, Duration) {
        let left = try #require(connection.timeout)
        return (left, left + began.duration(to: .now))
    }

    @Test func `the ClientHello is sent again after 50 ms, and then after 250`() throws {
        let pair = try Pair()
        for expected in [50, 250] {
            let began = ContinuousClock.now
            if expected == 50 { try pair.client.start() } else { try pair.client.timeoutExpired() }
            let (left, whole) = try timeout(of: pair.client, since: began)
            #expect(left <= .milliseconds(expected) && whole > .milliseconds(expected - 20), "\(left), \(whole)")
            #expect(!pair.client.takeOutgoing().isEmpty)
            while let left = pair.client.timeout, left > .zero { Thread.sleep(forTimeInterval: 0.001) }
        }
    }

    /// ffmpeg in its default role: what arrives after its handshake makes its socket blocking, and a round trip may take 600 ms.
    @Test func `as client only the ClientHello is repeated soon, later flights after a second`() throws {
        let pair = try Pair()
        try pair.client.start()
        _ = pair.client.takeOutgoing()  // ffmpeg swallows the first
        while let left = pair.client.timeout, left > .zero { Thread.sleep(forTimeInterval: 0.001) }
        try pair.client.timeoutExpired()
        for hello in pair.client.takeOutgoing() { _ = try pair.server.receive(hello) }
        let began = ContinuousClock.now
        for datagram in pair.server.takeOutgoing() { _ = try pair.client.receive(datagram) }
        let finishing = pair.client.takeOutgoing()
        #expect(!finishing.isEmpty)
        let (left, whole) = try timeout(of: pair.client, since: began)
        #expect(left <= .seconds(1) && whole > .milliseconds(600), "\(left), \(whole)")
        // The server is done with this flight; nothing may follow before its own last one has had time to come.
        #expect(try finishing.map { try pair.server.receive($0) }.contains { $0 != .none })
        try pair.client.timeoutExpired()
        #expect(pair.client.takeOutgoing().isEmpty || began.duration(to: .now) >= .seconds(1))
        #expect(try pair.server.takeOutgoing().map { try pair.client.receive($0) }.contains { $0 != .none })
        #expect(pair.client.timeout == nil)
    }

    @Test func `each of several records of close_notify is new to the peer`() throws {
        var pair = try Pair()
        try pair.run()
        pair.server.close(copies: 4)
        let records = pair.server.takeOutgoing()
        #expect(records.count == 4 && Set(records).count == 4)
        // Whichever arrives first is taken.
        #expect(try pair.client.receive(records[2]) == .closedByPeer)
    }

    @Test func `garbage after the handshake changes nothing`() throws {
        var pair = try Pair()
        try pair.run()
        var generator = SplitMix64(seed: 3)
        for length in 1..<300 {
            var datagram = (0..<length).map { _ in UInt8(generator.next() & 255) }
            datagram[0] = 20 + UInt8(length % 4)
            if length > 13 { (datagram[1], datagram[2]) = (0xFE, 0xFD) }
            #expect(try pair.server.receive(datagram) == .none)
        }
        pair.client.close()
        #expect(try pair.client.takeOutgoing().map { try pair.server.receive($0) } == [.closedByPeer])
    }
}

/// A client and a server wired through memory.
struct Pair {
    let client: DTLSConnection
    let server: DTLSConnection
    var clientKeys: Secret?
    var serverKeys: Secret?
    var profile: UInt16?
    var largestDatagram = 0

    /// - Parameters:
    ///   - ofClient: what the server expects of the client's certificate.
    ///   - ofServer: what the client expects of the server's.
    init(
        ofClient: (DTLSCertificate) -> CertificateFingerprint = Pair.fingerprint,
        ofServer: (DTLSCertificate) -> CertificateFingerprint = Pair.fingerprint,
        clientProfiles: String = DTLSContext.srtpProfiles, serverProfiles: String = DTLSContext.srtpProfiles
    ) throws {
        let (clientCertificate, serverCertificate) = (try DTLSCertificate.make(), try DTLSCertificate.make())
        client = try DTLSConnection(
            DTLSContext(clientCertificate, srtpProfiles: clientProfiles), role: .client, expecting: [ofServer(serverCertificate)])
        server = try DTLSConnection(
            DTLSContext(serverCertificate, srtpProfiles: serverProfiles), role: .server, expecting: [ofClient(clientCertificate)])
    }

    static func fingerprint(of certificate: DTLSCertificate) -> CertificateFingerprint {
        CertificateFingerprint(hash: "sha-256", bytes: certificate.fingerprint)
    }

    /// Carries datagrams until both are done; the one numbered `dropping` is lost, and timeouts bring it again.
    mutating func run(dropping: Int? = nil) throws {
        var number = 0
        try client.start()
        let end = ContinuousClock.now + .seconds(60)
        while (clientKeys == nil || serverKeys == nil), ContinuousClock.now < end {
            var moved = false
            for datagram in client.takeOutgoing() {
                moved = true
                number += 1
                largestDatagram = max(largestDatagram, datagram.count)
                if number - 1 != dropping { try note(server.receive(datagram), isServer: true) }
            }
            for datagram in server.takeOutgoing() {
                moved = true
                number += 1
                largestDatagram = max(largestDatagram, datagram.count)
                if number - 1 != dropping { try note(client.receive(datagram), isServer: false) }
            }
            guard !moved else { continue }
            if let timeout = [client.timeout, server.timeout].compactMap({ $0 }).min() {
                Thread.sleep(forTimeInterval: Double(timeout.milliseconds + 1) / 1_000)
            }
            try client.timeoutExpired()
            try server.timeoutExpired()
        }
    }

    private mutating func note(_ event: DTLSConnection.Event, isServer: Bool) throws {
        guard case .completed(let profile, let exported) = event else { return }
        self.profile = profile
        if isServer { serverKeys = exported } else { clientKeys = exported }
    }
}

extension DTLSConnection {
    func receive(_ datagram: [UInt8]) throws -> Event { try datagram.withUnsafeBytes { try receive($0) } }
}
