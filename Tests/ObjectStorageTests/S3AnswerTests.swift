import TestSupport
import Testing
import Wire

@testable import ObjectStorage

@Suite("What a store that speaks S3 answers")
struct S3AnswerTests {
    static func error(_ code: String, _ message: String = "", more: String = "") -> [UInt8] {
        Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>\(message)</Message>\(more)</Error>".utf8)
    }

    @Test(arguments: [200, 201, 204]) func `an object is stored`(_ status: Int) {
        #expect(S3Answer(status: status, body: []).fault == nil)
    }

    @Test(arguments: [
        (500, ""), (502, ""), (503, "SlowDown"), (504, ""), (429, ""), (408, ""), (409, "OperationAborted"),
        (400, "RequestTimeout"), (403, "RequestTimeTooSkewed"),
    ])
    func `what may go well later is tried again`(_ status: Int, _ code: String) {
        guard case .transient = S3Answer(status: status, body: Self.error(code)).fault else {
            Issue.record("\(status) \(code) is a refusal")
            return
        }
    }

    @Test(arguments: [
        (403, "AccessDenied"), (403, "SignatureDoesNotMatch"), (404, "NoSuchBucket"), (301, "PermanentRedirect"), (307, ""),
        (400, "EntityTooLarge"), (400, "AuthorizationHeaderMalformed"), (411, ""), (412, ""), (501, "NotImplemented"),
    ])
    func `what will not go well as things are is a refusal`(_ status: Int, _ code: String) {
        guard case .refused = S3Answer(status: status, body: Self.error(code)).fault else {
            Issue.record("\(status) \(code) is tried again")
            return
        }
    }

    @Test func `the store's words are passed on, without control characters and not for ever`() {
        let answer = S3Answer(status: 403, body: Self.error("AccessDenied", "No\u{1B} way"))
        #expect(answer.fault == .refused("the store answered 403 AccessDenied: No way"))
        let long = S3Answer(status: 500, body: Self.error("X", String(repeating: "y", count: 5_000)))
        #expect(long.message.count == 300)
        #expect(S3Answer(status: 500, body: Array("<html>".utf8)).fault == .transient("the store answered 500"))
    }

    @Test func `a wrong clock is told by the store`() {
        let body = Self.error("RequestTimeTooSkewed", more: "<ServerTime>2026-01-02T03:04:05Z</ServerTime>")
        #expect(S3Answer(status: 403, body: body).serverTime == WallTime(secondsSince1970: 1_767_323_045))
        #expect(S3Answer(status: 403, body: Self.error("AccessDenied")).serverTime == nil)
    }

    @Test func `a wrong clock is told by the answer's date where the error says nothing`() {
        let date = "Fri, 02 Jan 2026 03:04:05 GMT"
        let skewed = S3Answer(status: 403, body: Self.error("RequestTimeTooSkewed"), date: date)
        #expect(skewed.serverTime == WallTime(secondsSince1970: 1_767_323_045))
        #expect(S3Answer(status: 403, body: Self.error("AccessDenied"), date: date).serverTime == nil)
    }

    /// As Backblaze's B2, Cloudflare's R2 and AWS say it.
    static let aclRefusals = [
        (400, "InvalidArgument", "Unsupported value for canned acl 'bucket-owner-full-control'"),
        (501, "NotImplemented", "Header 'x-amz-acl' with value 'bucket-owner-full-control' not implemented"),
        (400, "AccessControlListNotSupported", "The bucket does not allow ACLs"),
    ]

    @Test(arguments: aclRefusals) func `a store that takes no ACL is known`(_ status: Int, _ code: String, _ message: String) {
        #expect(S3Answer(status: status, body: Self.error(code, message)).refusesACL)
    }

    @Test(arguments: [
        (400, "InvalidArgument", "Bad length"), (501, "NotImplemented", "x-amz-tagging"), (403, "AccessDenied", "no ACL"),
        (200, "", ""),
    ])
    func `other answers say nothing of ACLs`(_ status: Int, _ code: String, _ message: String) {
        #expect(!S3Answer(status: status, body: Self.error(code, message)).refusesACL)
    }

    @Test func `any bytes are an answer`() {
        let alphabet = Array("<>/CodeMsag \u{FF}".utf8)
        var generator = SplitMix64(seed: 12)
        for _ in 0..<2_000 {
            let length = Int.random(in: 0...80, using: &generator)
            let bytes = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
            let status = Int.random(in: 0...999, using: &generator)
            let answer = S3Answer(status: status, body: bytes)
            #expect((answer.fault == nil) == (200...299).contains(status), "\(status) \(bytes)")
        }
    }
}
