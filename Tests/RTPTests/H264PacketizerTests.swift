import RTP
import TestSupport
import Testing

@Suite("H.264 packetization (RFC 6184, mode 1)")
struct H264PacketizerTests {
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1F]
    static let pps: [UInt8] = [0x68, 0xCE]

    struct Payload: Equatable {
        var bytes: [UInt8]
        var isLast: Bool
    }

    static func packetize(_ nalUnits: [[UInt8]], withParameterSets: Bool = true) -> [Payload] {
        var packetizer = H264Packetizer()
        if withParameterSets { packetizer.setParameterSets([sps, pps]) }
        var payloads: [Payload] = []
        func emit(_ payload: H264Payload) {
            let head = (0..<payload.headCount).map { UInt8(truncatingIfNeeded: payload.head >> (8 * UInt32($0))) }
            payloads.append(Payload(bytes: head + Array(payload.body), isLast: payload.isLast))
        }
        // The packetizer holds one payload back, so all NAL units must stay where they are until the end.
        let storage = nalUnits.map { unit in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: unit.count, alignment: 1)
            buffer.copyBytes(from: unit)
            return buffer
        }
        packetizer.cut(storage.map { UnsafeRawBufferPointer($0) }, emit: emit)
        for unit in storage { unit.deallocate() }
        return payloads
    }

    /// What a receiver makes of payloads (RFC 6184 §5.7, §5.8).
    static func reassemble(_ payloads: [Payload]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for payload in payloads.map(\.bytes) {
            switch payload[0] & 0x1F {
            case 24:
                var rest = payload.dropFirst()
                while let high = rest.popFirst(), let low = rest.popFirst() {
                    let count = Int(high) << 8 | Int(low)
                    units.append(Array(rest.prefix(count)))
                    rest = rest.dropFirst(count)
                }
            case 28:
                if payload[1] & 0x80 != 0 { units.append([payload[0] & 0xE0 | payload[1] & 0x1F]) }
                units[units.count - 1] += payload[2...]
            default: units.append(payload)
            }
        }
        return units
    }

    static func nalUnit(_ header: UInt8, count: Int) -> [UInt8] {
        var generator = SplitMix64(seed: UInt64(count))
        return [header] + (1..<max(count, 1)).map { _ in .random(in: 0...255, using: &generator) }
    }

    @Test
    func `further slices of a keyframe have no parameter sets before them`() {
        var packetizer = H264Packetizer()
        packetizer.setParameterSets([Self.sps, Self.pps])
        let slice = UnsafeMutableRawBufferPointer.allocate(byteCount: 2, alignment: 1)
        defer { slice.deallocate() }
        slice.copyBytes(from: [0x65, 0x88])
        var types: [UInt8] = []
        var ends: [Bool] = []
        for goesOn in [false, true, false] {
            packetizer.cut([UnsafeRawBufferPointer(slice)], goesOn: goesOn) { payload in
                types.append(payload.body[0] & 0x1F)
                ends.append(payload.isLast)
            }
        }
        #expect(types == [24, 5, 5, 24, 5])
        #expect(ends == [false, true, true, false, true])
    }

    @Test func `parameter sets go in one STAP-A before an IDR, marker on the last packet`() {
        let idr = Self.nalUnit(0x65, count: 20)
        let payloads = Self.packetize([[0x09, 0x10], [0x06, 0x01], idr, idr])
        #expect(payloads.map(\.bytes) == [[0x09, 0x10], [0x06, 0x01], [0x78, 0, 4] + Self.sps + [0, 2] + Self.pps, idr, idr])
        #expect(payloads.map(\.isLast) == [false, false, false, false, true])
    }

    @Test func `parameter sets of the stream's own are not doubled`() {
        let units = [Self.sps, Self.pps, Self.nalUnit(0x65, count: 9)]
        #expect(Self.packetize(units).map(\.bytes) == units)
    }

    @Test func `a picture parameter set without a sequence parameter set stands behind those of the stream`() {
        let units: [[UInt8]] = [[0x68, 0xCF], Self.nalUnit(0x65, count: 9)]
        #expect(Self.packetize(units).map(\.bytes) == [[0x78, 0, 4] + Self.sps + [0, 2] + Self.pps] + units)
    }

    @Test func `other pictures go alone`() {
        #expect(Self.packetize([[0x41, 1]]) == [Payload(bytes: [0x41, 1], isLast: true)])
        let withPictureSet: [[UInt8]] = [[0x68, 0xCF], [0x41, 1]]
        #expect(Self.packetize(withPictureSet).map(\.bytes) == withPictureSet, "some bring one with each")
        #expect(Self.packetize([]).isEmpty)
        #expect(Self.packetize([[]]).isEmpty)
    }

    @Test func `a second access unit gets its own parameter sets`() {
        var packetizer = H264Packetizer()
        packetizer.setParameterSets([Self.sps, Self.pps])
        var count = 0
        let idr = Self.nalUnit(0x65, count: 9)
        for _ in 0..<2 {
            idr.withUnsafeBytes { unit in
                packetizer.append(unit) { _ in count += 1 }
                packetizer.finish { _ in count += 1 }
            }
        }
        #expect(count == 4)
    }

    @Test(arguments: [1, 2, 1171, 1172, 1173, 1174, 2341, 2342, 5000, 250_000])
    func `any size survives, in payloads within the limit`(_ count: Int) {
        let units = [Self.nalUnit(0x61, count: count), Self.nalUnit(0x01, count: 30), Self.nalUnit(0x61, count: count)]
        let payloads = Self.packetize(units)
        #expect(Self.reassemble(payloads) == units)
        #expect(payloads.allSatisfy { $0.bytes.count <= H264Packetizer.maximumPayloadByteCount })
        #expect(payloads.filter(\.isLast).count == 1)
        #expect(payloads.last?.isLast == true)
    }

    @Test func `FU-A sets start and end bits once, and only the last one is shorter`() {
        let payloads = Self.packetize([Self.nalUnit(0x41, count: 3000)])
        #expect(payloads.map { $0.bytes[0] } == [0x5C, 0x5C, 0x5C])
        #expect(payloads.map { $0.bytes[1] } == [0x81, 0x01, 0x41])
        #expect(payloads.map { $0.bytes.count } == [1172, 1172, 3000 - 1 - 2 * 1170 + 2])
    }
}
