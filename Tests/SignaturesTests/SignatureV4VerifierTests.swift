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

    /// How AWS and most SDKs sign an ARN in the path, how botocore signs what is sent as it stands, and of another ARN.
    @Test(arguments: [
        ("arn:aws:ivs:us-east-1:000000000000:stage%2Fabc", escapedARN, true),
        ("arn%3aaws%3aivs%3aus-east-1%3a000000000000%3astage%2fabc", escapedARN, true),
        (
            "arn:aws:ivs:us-east-1:000000000000:stage%2Fabc",
            "4cd0f8b8caf1b1681d1a502fd484f809f56d4f30049584a7a1a3751fc04051d6", true
        ),
        (
            "arn%3aaws%3aivs%3aus-east-1%3a000000000000%3astage%2fabc",
            "51cecc6c6f50626b5152a00a0d13b31ca777c4260f0c6e0807865d505ce8f5f1", true
        ),
        ("arn:aws:ivs:us-east-1:000000000000:stage%2Fabd", escapedARN, false),
        ("arn:aws:ivs:us-east-1:000000000000:stage/abc", escapedARN, false),
    ])
    func `takes a path escaped more or less than it was signed`(_ arn: String, _ signature: String, _ isTaken: Bool) throws {
        let get = try Self.request(.get, "/tags/" + arn, signature: signature, signed: "host;x-amz-date")
        #expect(verify(get) == (isTaken ? .success("AKIDEXAMPLE") : .failure(.mismatch)))
    }

    static let escapedARN = "86a5383da40c4023211b342ae3aa58203be215c11090c3c080ccb865b0ca648e"

    @Test func `reads fields as signers do, in any case, repeated, with runs of blanks`() throws {
        let fields = [("x-AMZ-user-agent", "aws-sdk-js/3   ua/2.1"), ("X-Note", "b  b"), ("x-note", "a")]
        let request = try Self.request(
            .post, "/CreateStage", signature: "f7f77eaac7c5012e0a456682350f9baae70e5d0d05d06c816ff265b33481f94d",
            signed: "host;x-amz-date;x-amz-user-agent;x-note", body: Self.demo, headers: fields)
        #expect(verify(request) == .success("AKIDEXAMPLE"))
        var tight = request
        tight.headers["Authorization"] = request.headers["Authorization"]?.replacing(", ", with: ",")
        #expect(verify(tight) == .success("AKIDEXAMPLE"))
        var swapped = request
        swapped.headers["X-Note"] = nil
        for value in ["a", "b  b"] { swapped.headers.add("X-Note", value) }
        #expect(verify(swapped) == .failure(.mismatch))
    }

    /// Keys here have no tokens: one that is left in a client's environment changes nothing.
    @Test func `passes over a session token that is signed, and wants the body's hash`() throws {
        let token = try Self.request(
            .post, "/CreateStage", signature: "5611b60c95596d2437da89752149be3768f3804b5028791c20d81b364d2b54a2",
            signed: "host;x-amz-date;x-amz-security-token", body: Self.demo, headers: [("X-Amz-Security-Token", "TOKEN")])
        #expect(verify(token) == .success("AKIDEXAMPLE"))
        let unsigned = try Self.request(
            .post, "/CreateStage", signature: "11e02a7e0cb9f15a16cf84b24a8e6ea442645647832c091b06b276f6b341403a",
            signed: "host;x-amz-content-sha256;x-amz-date", body: Self.demo,
            headers: [("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")])
        #expect(verify(unsigned) == .failure(.unsigned("body")))
    }

    static let demo = #"{"name":"demo"}"#

    @Test func `notices every change`() throws {
        var body = try Self.createStage()
        body.body = Array(#"{"name":"dema"}"#.utf8)
        #expect(verify(body) == .failure(.mismatch))
        var path = try Self.createStage()
        path.path = "/DeleteStage"
        #expect(verify(path) == .failure(.mismatch))
        var method = try Self.createStage()
        method.method = .patch
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

    /// As aws-requests-auth sends it.
    @Test func `takes the body's hash beside the signature, if it is the body's`() throws {
        var request = try Self.createStage()
        request.headers["X-Amz-Content-Sha256"] = "d7d234f759ec34fd6298b7e32318614760070aaef9f4e92ced928324b49a0602"
        #expect(verify(request) == .success("AKIDEXAMPLE"))
        request.headers["X-Amz-Content-Sha256"] = String(repeating: "0", count: 64)
        #expect(verify(request) == .failure(.unsigned("body")))
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
