import RTP
import Testing
import Wire

@testable import RouterForwarding

@Suite("Packets about to be sent")
struct WireBatchTests {
    /// 4 bytes before them, 1 and 2 of MID, 1 and 2 of RID, filled up.
    private static let names = HeaderExtensions.oneByte([(1, Array("0".utf8)), (2, Array("hi".utf8))])

    @Test(arguments: [(1_000, true), (1_412, true), (1_413, false), (1_470, false)])
    func `names go with every packet that they do not make too long`(byteCount: Int, areNamed: Bool) throws {
        let (batch, payload) = (WireBatch(), [UInt8](repeating: 7, count: byteCount))
        try payload.withUnsafeBytes { payload in
            let header = RTPHeader(marker: true, payloadType: 96, sequenceNumber: 5, timestamp: 0, ssrc: 1)
            batch.append(header, Self.names, head: 0, headCount: 0, payload: payload)
            let packet = batch.pieces(of: 0..<1).flatMap { Array($0) }
            let read = try RTPHeader(parsing: packet.span.bytes)
            #expect((read.extensions != nil) == areNamed && packet.count - read.byteCount == byteCount)
            #expect(packet.count <= (areNamed ? WireBatch.longestWithExtension : RTPHeader.fixedByteCount + byteCount))
        }
    }
}
