// fuzz: module=RTCP
import RTCP
import Wire

/// RTCP compounds: what parses is written again and must parse to the same value.
enum RTCPFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let packets = try? RTCPCompound.parse(bytes.bytes) else { return }
        for packet in packets {
            var writer = ByteWriter()
            guard packet.write(into: &writer) else { continue }
            let written = writer.bytes
            let again = try? RTCPCompound.parse(written.span.bytes)
            precondition(again?.count == 1)
            if case .transportWide(let feedback) = packet { precondition(again == [.transportWide(feedback)]) }
        }
    }
}
