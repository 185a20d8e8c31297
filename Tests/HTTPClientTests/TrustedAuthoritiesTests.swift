import CCurl
import EventLoop
import Foundation
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@testable import HTTPClient

@Suite("Whom a request trusts", .timeLimit(.minutes(10)))
struct TrustedAuthoritiesTests {
    /// What libcurl tells of a request while it carries it out, on this thread.
    private static func story(of request: HTTPClientRequest) -> String {
        guard let transfer = try? HTTPTransfer(request, reply: { _ in }), let file = tmpfile() else { return "" }
        ccurl_set_pointer(transfer.easy, CURLOPT_STDERR, file)
        ccurl_set_long(transfer.easy, CURLOPT_VERBOSE, 1)
        withExtendedLifetime(transfer) {
            _ = curl_easy_perform(transfer.easy)
            // It ends its connection later, when the file is closed.
            _ = ccurl_set_long(transfer.easy, CURLOPT_VERBOSE, 0)
        }
        rewind(file)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        fclose(file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// A certificate of any of the system's would pass for the router's, to which keys go.
    @Test func `an authority of the operator's takes the place of the system's`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "A", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(3_600))
        let folder = try TemporaryDirectory()
        try Data(authority.certificate.pem()).write(to: URL(fileURLWithPath: folder.path + "/ca.pem"))
        let loop = try EventLoop()
        let configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 10,
            maximumConnectionsPerAddress: 10)
        let server = HTTPServer(loop: loop, configuration: configuration) { _, exchange in exchange.respond(HTTPResponse(.ok)) }
        let address = try server.listen(on: SocketAddress(.loopback, port: 0), tls: try TLSContext(server: leaf))
        var request = HTTPClientRequest(method: "GET", url: "https://127.0.0.1:\(address.port)/")
        (request.deadline, request.tls.certificateAuthority) = (.seconds(60), folder.path + "/ca.pem")
        var story = ""
        let mailbox = try Mailbox<String>(loop: loop) { story = $0 }
        let (asked, sender) = (request, mailbox.sender)
        let thread = try WorkerThread.start(name: "curl") { sender.send(Self.story(of: asked)) }
        #expect(loop.run(until: { !story.isEmpty }, within: .seconds(120)))
        thread.join()
        #expect(story.contains("CAfile: \(folder.path)/ca.pem") && !story.contains("CApath: /"), "\(story)")
        withExtendedLifetime((server, mailbox)) {}
    }
}
