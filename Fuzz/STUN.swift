// fuzz: module=STUN
import STUN
import Wire

/// Walks any bytes as a STUN message and answers what passes: libnice must survive all that the pre-check lets through.
enum STUNFuzz {
    nonisolated(unsafe) private static let agent = STUNAgent()
    private static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    private static let source = SocketAddress(.loopback, port: 9)

    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard STUNMessage(preChecking: bytes) != nil else { return }
        withUnsafeTemporaryAllocation(byteCount: STUNAgent.maximumReplyByteCount, alignment: 8) { reply in
            _ = try? agent.answer(bytes, password: password, from: source, into: reply)
        }
    }
}
