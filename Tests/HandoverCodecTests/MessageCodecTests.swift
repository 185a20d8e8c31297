import HTTP
import Sockets
import TestSupport
import Testing
import Wire

@testable import HandoverCodec

@Suite("Hand-over messages as bytes")
struct MessageCodecTests {
    /// As `HandoverMessage` has them.
    private enum Message: Codable, Equatable {
        case request(number: Int, HandedRequest)
        case response(number: Int, HandedResponse)
    }

    @Test func `a request and its answer keep what they hold`() throws {
        var request = HTTPRequest(
            method: .patch, target: try #require(HTTPRequestTarget("/whip/sessions/n1-0-ab?x=1")),
            rawTarget: "/whip/sessions/n1-0-ab?x=1", headers: ["If-Match": "\"a\"", "Authorization": "Bearer t", "X": "$null"],
            body: Array("a=ice-ufrag:x".utf8), source: try #require(SocketAddress("[2001:db8::1]:4711")))
        request.isSecure = true
        #expect(try whole(.request(number: 1, HandedRequest(request))).request == request)
        let response = HTTPResponse(.noContent, headers: ["ETag": "\"b\"", "Link": "1", "link": "2"], body: [0, 255])
        let encoded = try #require(MessageCodec.encode(Message.response(number: 2, HandedResponse(response))))
        guard case .response(2, let handed) = try MessageCodec.decode(Message.self, from: encoded) else {
            Issue.record("another message")
            return
        }
        #expect(handed.response == response)
    }

    @Test(arguments: [0x00, 0x22, 0x2F, 0x5C, 0x7F, 0xFF] as [UInt8])
    func `whatever bytes a peer sends, they take no more than there are`(byte: UInt8) throws {
        let text = String(repeating: Character(Unicode.Scalar(byte & 0x7F)), count: 160)
        var headers = HTTPHeaders()
        for number in 0..<100 { headers.add("x-\(number)", text) }
        let request = HTTPRequest(
            method: .patch, target: try #require(HTTPRequestTarget("/whip")), rawTarget: "/whip", headers: headers,
            body: [UInt8](repeating: byte, count: 65_536))
        let sent = 65_536 + 100 * 160
        let encoded = try #require(MessageCodec.encode(Message.request(number: .max, HandedRequest(request))))
        #expect(encoded.count <= sent + 8_192, "\(encoded.count) bytes for \(sent)")
        #expect(try whole(.request(number: 1, HandedRequest(request))).request == request)
    }

    private func whole(_ message: Message) throws -> HandedRequest {
        let encoded = try #require(MessageCodec.encode(message))
        var frames = MessageFrames()
        for frame in MessageFrames.cut(encoded) {
            guard let (bytes, _) = try frames.append(frame) else { continue }
            #expect(bytes == encoded)
            if case .request(_, let request) = try MessageCodec.decode(Message.self, from: bytes) { return request }
        }
        throw MessageError.malformed
    }

    @Test(arguments: [0, 1, 32_767, 32_768, 32_769, 65_536, 1_000_000])
    func `frames are small and make the message whole again`(length: Int) throws {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let cut = MessageFrames.cut(message)
        #expect(cut.allSatisfy { $0.bytes.count <= MessageFrames.maximumPart + 1 })
        #expect(cut.count == max(1, (length + MessageFrames.maximumPart - 1) / MessageFrames.maximumPart))
        var frames = MessageFrames()
        for frame in cut.dropLast() { #expect(try frames.append(frame) == nil) }
        #expect(try frames.append(try #require(cut.last))?.bytes == message)
    }

    @Test func `more than a message may have is not gathered`() throws {
        var frames = MessageFrames()
        let part = DescriptorMessage(bytes: [UInt8](repeating: 0, count: MessageFrames.maximumPart + 1))
        for _ in 0..<(MessageCodec.maximumLength / MessageFrames.maximumPart) { #expect(try frames.append(part) == nil) }
        #expect(throws: MessageError.tooLong) { _ = try frames.append(part) }
    }

    @Test func `what is no message is refused`() throws {
        let response = HandedResponse(HTTPResponse(.ok, body: [1, 2]))
        let good = try #require(MessageCodec.encode(Message.response(number: 1, response)))
        for length in 0..<good.count {
            #expect(throws: MessageError.malformed) { _ = try MessageCodec.decode(Message.self, from: Array(good[..<length])) }
        }
        var random = SplitMix64(seed: 7)
        for _ in 0..<2_000 {
            var bytes = good
            for _ in 0..<3 { bytes[Int.random(in: 0..<good.count, using: &random)] = .random(in: 0...255, using: &random) }
            guard let message = try? MessageCodec.decode(Message.self, from: bytes) else { continue }
            #expect(MessageCodec.encode(message) != nil)
        }
    }
}
