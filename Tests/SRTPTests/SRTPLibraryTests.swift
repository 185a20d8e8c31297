import Testing
import Wire

@testable import SRTP

/// A type of ours must do what libsrtp's own did, byte for byte.
@Suite("libsrtp with types of our own")
struct SRTPLibraryTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        var profile: SRTPProfile
        var plain: String
        var protected: String
        var isControl = false
        var testDescription: String { "\(profile) \(isControl ? "RTCP" : "RTP") of \(plain.count / 2) bytes" }
    }

    /// A CSRC, an extension, and a payload of 0, 1, 16 and 33 bytes; made by libsrtp 2.5.0 as it comes, on OpenSSL 3.0.22.
    static let headers = "cafebabe01020304bede000110550000"
    static let payload = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
    static let report = "81c90007cafebabedeadbeef0000000000001234000000000000000000000000"
    static let vectors: [Vector] = [
        packet(.aeadAES128GCM, 0, 0, "0d732b7fb65170adf0a232fe916576e2"),
        packet(.aeadAES128GCM, 1, 1, "6b957885613b97b726a8485ba9e8246b45"),
        packet(.aeadAES128GCM, 2, 16, "2b0719a1e0cfc1c955ea2a7db0144aab98de4aab2cf94f5a0be37efee4e86c25"),
        packet(
            .aeadAES128GCM, 3, 33,
            "af9150f3c7376374d4e06eb85a29ba9d0936bbd3bacf334b15adf2d8ba53601066f9bd5aa8c525f57a24bcf6dc7f23c6f9"),
        Vector(
            profile: .aeadAES128GCM, plain: report,
            protected: "81c90007cafebabeae7a76f0d8908ff4b018b65841c0ee2313da8b1946b570b2"
                + "4866e86a587fb115fb276e0af9cc017980000001", isControl: true),
        packet(.aes128CMSHA1_80, 0, 0, "4cb7283ce7a0f548bef4"),
        packet(.aes128CMSHA1_80, 1, 1, "7fd26cc569988bc0691bc4"),
        packet(.aes128CMSHA1_80, 2, 16, "dfb6d9b716a0cb8a9cad24bf0cbafab8e7646bef734bcbb96df8"),
        packet(
            .aes128CMSHA1_80, 3, 33,
            "42ca798a0a02f9c76341d2cdebf71754e5acccd0f00db7e5e51f0cb200f0b18b08e39cff93eec7d3cc425a"),
        Vector(
            profile: .aes128CMSHA1_80, plain: report,
            protected: "81c90007cafebabe76f6b7b7357dbdfd31990132837178d1d33c36f9df9a8628800000018f6d46c7457ad9450ae6",
            isControl: true),
    ]

    static func packet(_ profile: SRTPProfile, _ number: Int, _ count: Int, _ protected: String) -> Vector {
        let start = "916012\(String(hexadecimal: [UInt8(number)]))00000001" + headers
        return Vector(profile: profile, plain: start + payload.prefix(2 * count), protected: start + protected)
    }

    @Test func `are taken by libsrtp after its own tests`() {
        let (hasOwnCipher, hasOwnAuthentication) = SRTPLibrary.areTypesReplaced
        #expect(hasOwnCipher && hasOwnAuthentication)
    }

    @Test(arguments: vectors)
    func `protect and unprotect what libsrtp's own types do`(_ vector: Vector) throws {
        var outbound = try SRTPOutbound(keys(vector.profile))
        var inbound = try SRTPInbound(keys(vector.profile))
        let protected =
            try vector.isControl ? outbound.protectControl(bytes(vector.plain)) : outbound.protect(bytes(vector.plain))
        #expect(protected == bytes(vector.protected))
        let plain = try vector.isControl ? inbound.unprotectControl(protected) : inbound.unprotect(protected)
        #expect(plain == bytes(vector.plain))
    }

    @Test(arguments: vectors)
    func `refuse a packet with any byte of header, payload or tag changed, and then take it`(_ vector: Vector) throws {
        var inbound = try SRTPInbound(keys(vector.profile))
        let protected = bytes(vector.protected)
        for index in protected.indices {
            var changed = protected
            changed[index] ^= 0x10
            var failure: SRTPError?
            do {
                _ = try vector.isControl ? inbound.unprotectControl(changed) : inbound.unprotect(changed)
            } catch {
                failure = error as? SRTPError
            }
            #expect(failure != nil, "byte \(index)")
        }
        let plain = try vector.isControl ? inbound.unprotectControl(protected) : inbound.unprotect(protected)
        #expect(plain == bytes(vector.plain))
    }

    private func keys(_ profile: SRTPProfile) -> SRTPKeys {
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        return SRTPKeys(profile: profile, keyAndSalt: Secret((1...UInt8(count)).map { $0 }))
    }
}

extension SRTPOutbound {
    mutating func protectControl(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0, count: Self.trailerByteCount)
        let count = try buffer.withUnsafeMutableBytes { try protectControl($0, count: packet.count) }
        return Array(buffer[..<count])
    }
}

extension SRTPInbound {
    mutating func unprotectControl(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet
        let count = try buffer.withUnsafeMutableBytes { try unprotectControl($0) }
        return Array(buffer[..<count])
    }
}
