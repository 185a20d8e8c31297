import OpenSSL
import TestSupport
import Testing
import Wire

@Suite("Signatures of ES384 (RFC 7518 §3.4)")
struct ES384SignatureTests {
    /// Of RFC 6979 A.2.6: SubjectPublicKeyInfo up to the point, and the point.
    static let head = "3076301006072a8648ce3d020106052b8104002203620004"
    static let x = "ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc13"
    static let y = "8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd2533264720"

    static func pem(_ hexadecimal: String) throws -> [UInt8] {
        let der = try #require([UInt8](hexadecimal: hexadecimal))
        let lines = ByteFeeder.pieces(of: Base64.standard.encode(der), size: 64)
        let body = lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        return Array("-----BEGIN PUBLIC KEY-----\n\(body)-----END PUBLIC KEY-----\n".utf8)
    }

    /// The RFC's, and two made by python3-cryptography 48.0.0 whose R and S, in turn, begin with zeros.
    @Test(arguments: [
        (
            "sample", "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46",
            "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8"
        ),
        (
            "test", "8203b63d3c853e8d77227fb377bcf7b7b772e97892a80f36ab775d509d7a5feb0542a7f0812998da8f1dd3ca3cf023db",
            "ddd0760448d42d8a43af45af836fce4de8be06b485e9b61b827c2f13173923e06a739f040649a667bf3b828246baa5a5"
        ),
        (
            "sample", "00275a5a3b7f9ec0e72bbedfb9746d1dca809bb7ed14be65e8022c2e2d4301de0a047177cd8f6d92cff60fdc14dbb9a1",
            "b469bfb323f10ba05a00af447effd93fd264198483fcf1128043e7833f80c28a0f6588c07988de78caacb2aa769a3706"
        ),
        (
            "sample", "42b384add21822e740273c41b903c2bbc6c975ff261204cebbf6a7bde7cc315c0b5ebb395429d2fc909ddfb626bdd9d0",
            "00641459958d98d782860e984fdf84b7fe5627e6355676909cf725f81a6616f96b0f2ab3d79cc1eec4cb2a8706c5728d"
        ),
    ])
    func `takes a signature over its message alone`(_ message: String, _ r: String, _ s: String) throws {
        let key = try ES384PublicKey(pem: Self.pem(Self.head + Self.x + Self.y))
        let message = Array(message.utf8)
        let signature = try #require([UInt8](hexadecimal: r + s))
        #expect(key.isValid(signature, over: message))
        #expect(!key.isValid(signature, over: message + [0]))
        #expect(!key.isValid(signature.dropLast(), over: message) && !key.isValid(signature + [0], over: message))
        for index in [0, 47, 48, 95] {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, over: message), "byte \(index)")
        }
    }

    @Test(arguments: [0, 0xFF] as [UInt8])
    func `numbers that no signature has are none`(_ byte: UInt8) throws {
        let key = try ES384PublicKey(pem: Self.pem(Self.head + Self.x + Self.y))
        #expect(!key.isValid([UInt8](repeating: byte, count: ES384PublicKey.signatureLength), over: [UInt8]()))
    }

    /// One in 128 is short; that none of 5,000 is has no chance.
    @Test func `signs in 96 bytes, also where R or S begins with zeros`() throws {
        let (key, message) = (try ES384PrivateKey.generate(), Array("sample".utf8))
        var short: [UInt8] = []
        for _ in 0..<5_000 where short.isEmpty {
            let signature = try key.sign(message)
            try #require(signature.count == ES384PublicKey.signatureLength)
            if signature[0] == 0 || signature[48] == 0 { short = signature }
        }
        #expect(key.publicKey.isValid(short, over: message))
        let copy = try ES384PrivateKey(pem: key.pem)
        #expect(copy.publicKey.der == key.publicKey.der && copy.publicKey.pem == key.publicKey.pem)
    }

    static let refused: [(String, ES384Error)] = [
        ("\(head)\(x)\(y.dropLast())1", .offCurve), (head + x + String(repeating: "f", count: 96), .offCurve),
        ("3016301006072a8648ce3d020106052b8104002203020000", .offCurve),  // the point at infinity
        (head + x, .malformed), ("", .malformed),
        ("302a300506032b65700321000c6d200d901b40d8069984db5c49f7e37b7ddbac1c8b2c9bfb4960cd8bbbd56b", .wrongCurve),  // Ed25519
    ]

    @Test(arguments: refused)
    func `a point of no curve, or of another, verifies nothing`(_ hexadecimal: String, _ error: ES384Error) throws {
        let pem = try Self.pem(hexadecimal)
        #expect(throws: error) { try ES384PublicKey(pem: pem) }
    }

    @Test func `a text has 4,096 bytes at most`() throws {
        let pem = try Self.pem(Self.head + Self.x + Self.y)
        let padded = pem + [UInt8](repeating: 0x0A, count: ES384PublicKey.maximumEncodedLength - pem.count)
        #expect(throws: Never.self) { try ES384PublicKey(pem: padded) }
        #expect(throws: ES384Error.malformed) { try ES384PublicKey(pem: padded + [0x0A]) }
    }
}
