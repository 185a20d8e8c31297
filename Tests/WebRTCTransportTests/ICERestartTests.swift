import GatewayMetrics
import HTTP
import Refusals
import SDP
import STUN
import Testing
import Wire

@testable import WebRTCTransport

@Suite("ICE restart by PATCH (RFC 9725 §4.3)")
struct ICERestartTests {
    private static let restart = "a=ice-ufrag:other\r\na=ice-pwd:9876543210987654321098\r\n"
    private static let trickle = "a=ice-ufrag:peer\r\na=ice-pwd:0123456789012345678901\r\n"
    private static let type = "application/trickle-ice-sdpfrag"

    private let context: TransportContext
    private let entry: StubEntry

    init() throws {
        context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        entry = StubEntry(on: context)
        context.add(entry)
    }

    private func patch(_ body: String, ifMatch tag: String?, type: String = type) throws(Refusal) -> HTTPResponse {
        guard let target = HTTPRequestTarget("/whip/sessions/x") else { preconditionFailure("a test's path") }
        var headers: HTTPHeaders = ["Content-Type": type]
        if let tag { headers["If-Match"] = tag }
        return try context.patch(
            HTTPRequest(
                method: .patch, target: target, rawTarget: "/whip/sessions/x", headers: headers, body: Array(body.utf8),
                source: SocketAddress(.loopback, port: 1)), entry)
    }

    @Test func `makes new credentials and a new ETag, and the old ones hold until a check comes with the new`() throws {
        let old = try #require(entry.transport.newestCredentials)
        let response = try patch(Self.restart, ifMatch: "*")
        #expect(response.status == .ok && response.headers["ETag"] != old.etag)
        let new = try #require(entry.transport.newestCredentials)
        #expect(new.ufrag != old.ufrag && new.etag == response.headers["ETag"])
        let answer = try SDPFragment(parsing: response.body)
        #expect(answer.iceUfrag == new.ufrag.description)
        #expect(answer.icePassword == String(decoding: new.password, as: UTF8.self))
        #expect(answer.candidates == context.candidates && answer.isEndOfCandidates)
        #expect(answer.attributes.first(MediaGroup.self)?.mids == ["0"] && answer.mid == "0")
        #expect(context.directory.entry(ufrag: old.ufrag) === entry && context.directory.entry(ufrag: new.ufrag) === entry)
        context.directory.remove(entry.transport.confirm(new.ufrag))
        #expect(context.directory.entry(ufrag: old.ufrag) == nil && context.directory.entry(ufrag: new.ufrag) === entry)
        #expect(entry.transport.password(of: old.ufrag) == nil)
    }

    @Test func `the peer's own ufrag is trickle, which changes nothing`() throws {
        let tag = try #require(entry.transport.newestCredentials?.etag)
        #expect(try patch(Self.trickle, ifMatch: tag).status == .noContent)
        #expect(try patch(Self.trickle, ifMatch: nil).status == .noContent)
        #expect(entry.transport.newestCredentials?.etag == tag)
        // The same restart sent again is trickle of the session that it made.
        _ = try patch(Self.restart, ifMatch: tag)
        #expect(try patch(Self.restart, ifMatch: "*").status == .noContent)
    }

    @Test func `our own ufrag is trickle too, candidate by candidate, as VDO.Ninja's player sends it`() throws {
        let own = try #require(entry.transport.newestCredentials)
        let body = [
            "a=ice-ufrag:\(own.ufrag)", "a=ice-pwd:\(String(decoding: own.password, as: UTF8.self))", "m=audio 9 RTP/AVP 0",
            "a=mid:0", "a=candidate:3471623853 1 udp 2122194687 198.51.100.1 61765 typ host generation 0 ufrag EsAw network-id 2",
            "a=end-of-candidates",
        ].map { $0 + "\r\n" }.joined()
        for _ in 0..<3 { #expect(try patch(body, ifMatch: own.etag).status == .noContent) }
        #expect(entry.transport.credentials == [own])
    }

    @Test(arguments: [
        (restart, "\"another\"", type, RefusalCode.preconditionFailed), (trickle, "\"another\"", type, .preconditionFailed),
        (restart, "*", "application/sdp", .unsupportedContentType), ("a=ice-ufrag:other\r\n", "*", type, .malformedFragment),
        ("a=ice-ufrag:oth\r\na=ice-pwd:9876543210987654321098\r\n", "*", type, .malformedFragment),
    ])
    func `refuses what it cannot use, and keeps the credentials`(
        _ body: String, _ tag: String, _ type: String, _ code: RefusalCode
    ) throws {
        let before = entry.transport.credentials
        do throws(Refusal) {
            _ = try patch(body, ifMatch: tag, type: type)
            Issue.record("it was taken")
        } catch { #expect(error.code == code) }
        #expect(entry.transport.credentials == before)
    }

    @Test func `a session that ends meanwhile leaves none of them behind`() throws {
        _ = entry.transport.markEnded()
        do throws(Refusal) {
            _ = try patch(Self.restart, ifMatch: "*")
            Issue.record("it was taken")
        } catch { #expect(error.code == .unknownSession) }
        #expect(entry.transport.credentials.allSatisfy { context.directory.entry(ufrag: $0.ufrag) == nil })
    }

    @Test func `four restarts may overlap`() throws {
        for number in 0..<9 {
            let body = Self.restart.replacing("other", with: "other\(number)")
            #expect(try patch(body, ifMatch: "*").status == .ok)
        }
        #expect(entry.transport.credentials.count == 4)
        let known = entry.transport.credentials.filter { context.directory.entry(ufrag: $0.ufrag) === entry }
        #expect(known.count == 4)
    }
}
