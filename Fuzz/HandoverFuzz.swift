// fuzz: module=HandoverCodec
import HTTP
import HandoverCodec
import Sockets

/// Whatever a peer sends, its request goes to the other process whole, by frames that the socket takes; and whatever comes from
/// there is a message or none.
enum HandoverFuzz {
    private enum Message: Codable, Equatable {
        case request(number: Int, HandedRequest)
        case response(number: Int, HandedResponse)
        case told([String: String], [PeerBytes])
    }

    static func run(_ bytes: UnsafeRawBufferPointer) {
        let input = Array(bytes)
        passOn(input)
        read(input)
        gather(input)
    }

    /// As a request on the public listener: its length bounds the message's, and it arrives as it was.
    private static func passOn(_ input: [UInt8]) {
        var parser = HTTPRequestParser(maximumBodyLength: 65_536)
        guard case .request(let request)? = try? parser.receive(input.span.bytes).event else { return }
        guard let encoded = MessageCodec.encode(Message.request(number: 1, HandedRequest(request))) else {
            preconditionFailure("a request that is too long to be passed on")
        }
        precondition(encoded.count <= input.count * 3 + 64 * request.headers.count + 512, "a message longer than its request")
        var frames = MessageFrames()
        for frame in MessageFrames.cut(encoded) {
            precondition(frame.bytes.count <= 64 * 1024, "a frame that the socket does not take")
            guard let whole = try? frames.append(frame) else { continue }
            let decoded = try? MessageCodec.decode(Message.self, from: whole.bytes)
            precondition(decoded == .request(number: 1, HandedRequest(request)), "another request")
        }
    }

    /// As an encoded message: what was read is written and read again as the same.
    private static func read(_ input: [UInt8]) {
        guard let message = try? MessageCodec.decode(Message.self, from: input) else { return }
        if case .request(_, let handed) = message { _ = handed.request }
        if case .response(_, let handed) = message { _ = handed.response }
        // Text may name the same attached bytes many times, and then becomes longer than it was.
        guard let encoded = MessageCodec.encode(message) else { return }
        let again = try? MessageCodec.decode(Message.self, from: encoded)
        precondition(again == message, "writing and reading changed the message")
    }

    /// As frames of the length that the first byte says.
    private static func gather(_ input: [UInt8]) {
        guard let first = input.first, first > 0 else { return }
        var frames = MessageFrames()
        for start in stride(from: 1, to: input.count, by: Int(first)) {
            let frame = DescriptorMessage(bytes: Array(input[start...].prefix(Int(first))))
            guard let whole = try? frames.append(frame) else { continue }
            precondition(whole.bytes.count <= MessageCodec.maximumLength, "more than a message may have")
        }
    }
}
