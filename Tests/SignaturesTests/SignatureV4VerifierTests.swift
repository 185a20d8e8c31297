import HTTP
import Signatures
import Testing
import Wire

/// Signatures made by botocore 1.43.11 for the key of AWS's own examples, at 2026-01-02 03:04:05 UTC.
@Suite("AWS Signature Version 4")
struct SignatureV4VerifierTests {
    static let now = WallTime(secondsSince1970: 1_767_323_045)
    let verifier = SignatureV4Verifier(region: "us-east-1")

    static func request(
        _ method: HTTPMethod, _ target: String, signature: String, signed: String, body: String = "",
        headers: [(String, String)] = []
    ) throws -> HTTPRequest {
        let authorization =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/ivs/aws4_request, SignedHeaders=\(signed), "
            + "Signature=\(signature)"
        var request = HTTPRequest(
            method: method, target: try #require(HTTPRequestTarget(target)), rawTarget: target,
            headers: ["Host": "127.0.0.1:8088", "X-Amz-Date": "20260102T030405Z", "Authorization": authorization],
            body: Array(body.utf8))
        for (name, value) in headers { request.headers.add(name, value) }
        return request
    }

    static func createStage() throws -> HTTPRequest {
        try request(
            .post, "/CreateStage", signature: "90f6ce7feb4406138944d3cbf86b510e13c234e8c13984e4489ecbdabda0ea8f",
            signed: "content-type;host;x-amz-date", body: #"{"name":"demo"}"#, headers: [("Content-Type", "application/json")])
    }

    func verify(_ request: HTTPRequest, now: WallTime = now) -> Result<String, SignatureV4Error> {
        do throws(SignatureV4Error) {
            return .success(
                try verifier.verify(request, now: now) { id in
                    id == "AKIDEXAMPLE" ? Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY") : nil
                })
        } catch {
            return .failure(error)
        }
    }

    @Test func `believes what botocore signs`() throws {
        #expect(verify(try Self.createStage()) == .success("AKIDEXAMPLE"))
        let tags = "/tags/arn%3Aaws%3Aivs%3Aus-east-1%3A000000000000%3Astage%2Fabc"
        let get = try Self.request(
            .get, tags, signature: "86a5383da40c4023211b342ae3aa58203be215c11090c3c080ccb865b0ca648e", signed: "host;x-amz-date")
        #expect(verify(get) == .success("AKIDEXAMPLE"))
        let delete = try Self.request(
            .delete, tags + "?tagKeys=b&tagKeys=a%20b",
            signature: "1ac9227a34387a1c0e63c6f149871db103c12d3e08698b08c22f01e8ae414443", signed: "host;x-amz-date")
        #expect(verify(delete) == .success("AKIDEXAMPLE"))
    }

    @Test func `notices every change`() throws {
        var body = try Self.createStage()
        body.body = Array(#"{"name":"dema"}"#.utf8)
        #expect(verify(body) == .failure(.mismatch))
        var path = try Self.createStage()
        path.path = "/DeleteStage"
        #expect(verify(path) == .failure(.mismatch))
        var method = try Self.createStage()
        method.method = .put
        #expect(verify(method) == .failure(.mismatch))
    }

    @Test func `wants what matters under the signature`() throws {
        var extra = try Self.createStage()
        extra.headers.add("X-Amz-Security-Token", "t")
        #expect(verify(extra) == .failure(.unsigned("x-amz-security-token")))
        let noHost = try Self.request(.get, "/", signature: String(repeating: "0", count: 64), signed: "x-amz-date")
        #expect(verify(noHost) == .failure(.unsigned("host")))
        let absent = try Self.request(.get, "/", signature: String(repeating: "0", count: 64), signed: "accept;host;x-amz-date")
        #expect(verify(absent) == .failure(.unsigned("accept")))
    }

    @Test(arguments: [-299, 299] as [Int64])
    func `allows clocks five minutes apart`(_ seconds: Int64) throws {
        #expect(verify(try Self.createStage(), now: Self.now + .seconds(seconds)) == .success("AKIDEXAMPLE"))
    }

    @Test(arguments: [-301, 301] as [Int64])
    func `refuses clocks further apart`(_ seconds: Int64) throws {
        #expect(verify(try Self.createStage(), now: Self.now + .seconds(seconds)) == .failure(.skewed))
    }

    @Test(arguments: ["00000101", "16770921", "22620412", "23000101", "99991231"])
    func `refuses years whose nanoseconds do not fit`(_ date: String) throws {
        let target = "/CreateStage"
        let authorization =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\(date)/us-east-1/ivs/aws4_request, SignedHeaders=host;x-amz-date, "
            + "Signature=\(Self.zeros)"
        let request = HTTPRequest(
            method: .post, target: try #require(HTTPRequestTarget(target)), rawTarget: target,
            headers: ["Host": "h", "X-Amz-Date": date + "T000000Z", "Authorization": authorization])
        #expect(verify(request) == .failure(.malformed))
    }

    @Test(arguments: [
        ("Bearer x", SignatureV4Error.missing), ("AWS4-HMAC-SHA256 ", .malformed),
        ("AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/ivs/aws4_request, SignedHeaders=host, Signature=00", .malformed),
        ("AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/ivs, SignedHeaders=host, Signature=" + zeros, .malformed),
        (
            "AWS4-HMAC-SHA256 Credential=A/20260102/eu-west-1/ivs/aws4_request, SignedHeaders=host;x-amz-date, Signature="
                + zeros, .wrongScope
        ),
        (
            "AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + zeros,
            .wrongScope
        ),
        (
            "AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/ivs/aws4_request, SignedHeaders=host;x-amz-date, Signature="
                + zeros, .unknownAccessKey
        ),
        (
            "AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/ivs/aws4_request, SignedHeaders=x-amz-date;host, Signature="
                + zeros, .malformed
        ),
    ])
    func `tells why`(_ header: String, _ error: SignatureV4Error) throws {
        let target = "/CreateStage"
        let request = HTTPRequest(
            method: .post, target: try #require(HTTPRequestTarget(target)), rawTarget: target,
            headers: ["Host": "h", "X-Amz-Date": "20260102T030405Z", "Authorization": header])
        #expect(verify(request) == .failure(error))
    }

    static let zeros = String(repeating: "0", count: 64)
}
