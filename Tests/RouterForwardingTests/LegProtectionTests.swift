import RTP
import SRTP
import Testing
import Wire

@testable import RouterForwarding

@Suite("Protection of a leg's packets")
struct LegProtectionTests {
    /// Opus by RTMP is one packet however long its frames are (RFC 7587).
    @Test(arguments: [[1_400], [2_400], [2_400, 7, 8_192, 1_500]])
    func `packets of any length are protected, one behind the other`(_ byteCounts: [Int]) throws {
        let protection = try LegProtection(.random(.aeadAES128GCM), feedback: nil)
        let (batch, result, slots) = (WireBatch(), WireBatch(), ProtectionSlots())
        let payload = [UInt8](repeating: 7, count: 8_192)
        payload.withUnsafeBytes { payload in
            for (number, byteCount) in byteCounts.enumerated() {
                let header = RTPHeader(
                    marker: false, payloadType: 111, sequenceNumber: UInt16(number), timestamp: 0, ssrc: 1)
                batch.append(
                    header, head: 0, headCount: 0, payload: UnsafeRawBufferPointer(rebasing: payload[..<byteCount]))
            }
            protection.protect(batch, into: slots, as: result)
        }
        let packets = (0..<result.count).map { Array(result.pieces(of: $0..<($0 + 1))[0]) }
        #expect(packets.map(\.count) == byteCounts.map { RTPHeader.fixedByteCount + $0 + 16 })
        #expect(packets.map { $0[3] } == byteCounts.indices.map { UInt8($0) })
        withExtendedLifetime(slots) {}
    }

    @Test func `a full batch of long datagrams has room`() throws {
        let protection = try LegProtection(.random(.aeadAES128GCM), feedback: nil)
        let (batch, result, slots) = (WireBatch(), WireBatch(), ProtectionSlots())
        let payload = [UInt8](repeating: 7, count: 1_488)
        payload.withUnsafeBytes { payload in
            for number in 0..<WireBatch.capacity {
                let header = RTPHeader(
                    marker: false, payloadType: 96, sequenceNumber: UInt16(number), timestamp: 0, ssrc: 1)
                batch.append(header, head: 0, headCount: 0, payload: payload)
            }
            protection.protect(batch, into: slots, as: result)
        }
        #expect(result.count == WireBatch.capacity)
    }
}
