/// The first bytes of RTMP clients, right and wrong ones (RTMP 1.0 §5.2, §5.3; AMF 0).
enum RTMPBytes {
    /// C0, C1 of a simple handshake, and a C2 that echoes nothing: what servers let pass.
    static let c0c1: [UInt8] = [3] + [UInt8](repeating: 0, count: 8) + (0..<1_528).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    static let handshake = c0c1 + [UInt8](repeating: 0, count: 1_536)

    /// One message of at most 128 bytes in one chunk, or cut at 128 bytes.
    static func message(type: UInt8, chunkStreamID: UInt8 = 3, stream: UInt8 = 0, declared: Int? = nil, _ body: [UInt8])
        -> [UInt8]
    {
        let length = declared ?? body.count
        var bytes: [UInt8] = [chunkStreamID, 0, 0, 0, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type]
        bytes += [stream, 0, 0, 0]
        for start in stride(from: 0, to: body.count, by: 128) {
            if start > 0 { bytes.append(0xC0 | chunkStreamID) }
            bytes += body[start..<min(start + 128, body.count)]
        }
        return bytes
    }

    static func string(_ text: String) -> [UInt8] { [2, 0, UInt8(text.utf8.count)] + text.utf8 }
    static func number(_ value: Double) -> [UInt8] { [0] + (0..<8).reversed().map { UInt8(value.bitPattern >> ($0 * 8) & 0xFF) } }
    static func property(_ name: String, _ value: [UInt8]) -> [UInt8] { [0, UInt8(name.utf8.count)] + name.utf8 + value }
    static let objectEnd: [UInt8] = [0, 0, 9]

    static func connect(_ extra: [UInt8] = []) -> [UInt8] {
        let command = [3] + property("app", string("app")) + property("tcUrl", string("rtmp://127.0.0.1/app")) + extra + objectEnd
        return message(type: 20, string("connect") + number(1) + command)
    }

    /// createStream, and publish on the stream that a server gives first.
    static func publish(_ key: String) -> [UInt8] {
        message(type: 20, string("createStream") + number(2) + [5])
            + message(type: 20, stream: 1, string("publish") + number(3) + [5] + string(key) + string("live"))
    }

    /// Objects within objects, four bytes a level.
    static func nested(levels: Int) -> [UInt8] { (0..<levels).flatMap { _ in [0, 1, 0x61, 3] as [UInt8] } }
}
