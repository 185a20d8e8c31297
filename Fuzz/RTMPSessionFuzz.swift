// fuzz: module=RTMP
import RTMP

/// Handshake, commands and media as an owner that grants everything sees them. The first byte decides whether the input begins
/// with the handshake, or with what follows one.
enum RTMPSessionFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        var session = RTMPServerSession(
            crypto: HandshakeCrypto(
                hmacSHA256: { _, message in [UInt8](repeating: message[0], count: 32) },
                randomBytes: [UInt8](repeating: 1, count: HandshakeCrypto.randomByteCount)))
        let handshake: [UInt8] = first & 1 == 0 ? [] : [3] + [UInt8](repeating: 0, count: 3_072)
        let input = handshake + bytes.dropFirst()
        input.withUnsafeBytes { input in
            var offset = 0
            while let event = try? session.nextEvent(in: input, at: &offset) { answer(event, in: &session) }
        }
    }

    private static func answer(_ event: RTMPEvent, in session: inout RTMPServerSession) {
        switch event {
        case .connect: session.acceptConnect()
        case .publish(let target):
            precondition(!target.keys.isEmpty, "A target without any key")
            session.acceptPublish()
        default: break
        }
    }
}
