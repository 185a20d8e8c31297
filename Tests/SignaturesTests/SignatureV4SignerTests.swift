import OpenSSL
import Signatures
import Testing
import Wire

/// Signatures that botocore's S3SigV4Auth 1.43.11 makes of the same requests, at 2026-01-02 03:04:05 UTC.
@Suite("AWS Signature Version 4, signing")
struct SignatureV4SignerTests {
    static let now = WallTime(secondsSince1970: 1_767_323_045)
    static let aws = "recordings.s3.eu-central-1.amazonaws.com"
    static let segment = "/a/st-1/p_1/2026-01-02T03-04-05Z/media/hls/high/1.mp4"

    func signer(token: String = "") -> SignatureV4Signer {
        SignatureV4Signer(
            .init(
                accessKeyID: "AKIDEXAMPLE", secret: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                sessionToken: Secret(token)), region: "eu-central-1")
    }

    @Test func `a segment is signed with its type, its grant and its hash`() throws {
        let fields = signer().headers(
            method: "PUT", host: Self.aws, path: Self.segment,
            headers: [("Content-Type", "video/mp4"), ("X-Amz-Acl", "bucket-owner-full-control")],
            payloadHash: Digest.sha256(Array("segment".utf8)), now: Self.now)
        let authorization = try #require(fields.first { $0.name == "Authorization" }?.value)
        #expect(
            authorization.hasSuffix(
                "SignedHeaders=content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date, "
                    + "Signature=c0ea4edb3a33c9c1120e683993ff9889005e4cb992e024e1ebe362259f57bf75"))
        let hash = "03e71c6d7dc6bd4e89ceaf32f6488ca0aa69b0de784b706cac5818d680e9d97f"
        #expect(fields.contains { $0.name == "X-Amz-Content-Sha256" && $0.value == hash })
    }

    @Test(arguments: [
        (
            "PUT", "127.0.0.1:9000", "/recordings/a%20b/%2Bc", "",
            "c7d8ad2575f64b2d5f2100bd73a961a05d9e7c8556544c973eef4217628aa363"
        ),
        ("DELETE", aws, "/k", "TOKEN", "bd7349901877b9a1d4867009ee610484546096ef875b662ded970c5880a2fd5f"),
    ])
    func `an escape is signed as it goes out, a session's token too`(
        _ method: String, _ host: String, _ path: String, _ token: String, _ signature: String
    ) {
        let fields = signer(token: token).headers(
            method: method, host: host, path: path, payloadHash: Digest.sha256([]), now: Self.now)
        #expect(fields.last?.value.hasSuffix("Signature=\(signature)") == true)
        #expect(fields.contains { $0.name == "X-Amz-Security-Token" } == !token.isEmpty)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 1_000]) func `a hash in parts is the hash of the whole`(_ cut: Int) {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        var running = RunningSHA256()
        running.add(bytes[..<cut])
        running.add(bytes[cut...])
        #expect(running.finish() == Digest.sha256(bytes))
    }
}
