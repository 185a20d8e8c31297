import RTP
import Testing

@testable import Recording

@Suite("Access units of RTP packets")
struct AccessUnitAssemblerTests {
    /// A recorder's end of one track.
    private struct Receiver {
        var order = PacketOrder(maximumKept: 64, maximumWait: 45_000)
        var assembler = AccessUnitAssembler()
        var units: [AccessUnit] = []

        mutating func take(_ number: Int64, _ timestamp: Int64, _ payload: [UInt8], marker: Bool = false) {
            var (units, assembler) = (self.units, self.assembler)
            payload.withUnsafeBytes { bytes in
                order.take(
                    PacketOrder.Packet(sequenceNumber: number, timestamp: timestamp, marker: marker, payload: bytes)
                ) { units += assembler.take($0) }
            }
            (self.units, self.assembler) = (units, assembler)
        }
    }

    private static let sps: [UInt8] = [0x67, 1, 2, 3]
    private static let pps: [UInt8] = [0x68, 4]
    private static let idr: [UInt8] = [0x65] + [UInt8](repeating: 9, count: 3_000)

    /// What the packetizer cuts is put together again, without the parameter sets.
    @Test
    func `come back as the packetizer took them`() {
        var packetizer = H264Packetizer()
        packetizer.setParameterSets([Self.sps, Self.pps])
        var payloads: [([UInt8], Bool)] = []
        let units: [[UInt8]] = [[0x06, 5, 5], Self.idr, [0x65, 8]]
        withBuffers(units) { buffers in
            packetizer.cut(buffers) { payload in
                let head = (0..<UInt32(payload.headCount)).map { UInt8(truncatingIfNeeded: payload.head >> (8 * $0)) }
                payloads.append((head + Array(payload.body), payload.isLast))
            }
        }
        var receiver = Receiver()
        for (index, payload) in payloads.enumerated() { receiver.take(Int64(index), 900, payload.0, marker: payload.1) }
        var expected: [UInt8] = []
        for unit in units { expected += [0, 0, UInt8(unit.count >> 8), UInt8(unit.count & 255)] + unit }
        #expect(
            receiver.units == [
                AccessUnit(
                    timestamp: 900, bytes: expected, isKeyframe: true,
                    parameterSets: ParameterSets(sequence: [Self.sps], picture: [Self.pps]))
            ])
    }

    @Test
    func `wait for packets that others overtook`() {
        var receiver = Receiver()
        for number in [0, 2, 1, 3] as [Int64] { receiver.take(number, number * 3_000, [0x41, UInt8(number)], marker: true) }
        #expect(receiver.units.map(\.timestamp) == [0, 3_000, 6_000, 9_000])
    }

    @Test
    func `a picture that lost a packet is left out, and the next one is not`() {
        var receiver = Receiver()
        receiver.take(0, 0, [0x41, 1], marker: true)
        receiver.take(1, 3_000, [0x41, 2])
        // 2 never comes.
        for number in 3..<80 as Range<Int64> { receiver.take(number, (number - 1) * 3_000, [0x41, 3], marker: true) }
        #expect(receiver.units.map(\.timestamp).prefix(3) == [0, 9_000, 12_000])
        #expect(receiver.assembler.damagedCount == 2)
    }

    @Test
    func `a keyframe whose parameter sets begin it is whole behind a gap`() {
        var receiver = Receiver()
        receiver.take(0, 0, [0x41, 1], marker: true)
        receiver.take(2, 3_000, [0x67, 1, 2, 3])
        receiver.take(3, 3_000, [0x68, 4])
        for number in 4..<80 as Range<Int64> { receiver.take(number, 3_000 * (number - 3), [0x65, 3], marker: true) }
        #expect(receiver.units.dropFirst().first?.timestamp == 3_000)
        #expect(receiver.units.dropFirst().first?.parameterSets.sequence == [[0x67, 1, 2, 3]])
    }

    /// By RTMP in messages of their own, and before the slices again.
    @Test
    func `parameter sets that come twice count once`() {
        var receiver = Receiver()
        for (number, set) in [Self.sps, Self.pps, Self.sps, Self.pps].enumerated() { receiver.take(Int64(number), 900, set) }
        receiver.take(4, 900, [0x65, 8], marker: true)
        #expect(receiver.units.map(\.parameterSets) == [ParameterSets(sequence: [Self.sps], picture: [Self.pps])])
    }

    @Test
    func `numbers that begin elsewhere are another sequence`() {
        var receiver = Receiver()
        receiver.take(0, 0, [0x41, 1], marker: true)
        receiver.take(1_000_000, 3_000, [0x67, 1, 2, 3])
        receiver.take(1_000_001, 3_000, [0x65, 1], marker: true)
        #expect(receiver.units.map(\.timestamp) == [0, 3_000])
    }

    /// A sample entry has 16 bits for a set's length: a longer one would have ended the process.
    @Test(arguments: [0x67, 0x68] as [UInt8])
    func `a parameter set that is too long for a sample entry stays in its picture`(_ header: UInt8) {
        let body = [UInt8](repeating: 1, count: 70_000)
        let (indicator, type): (UInt8, UInt8) = (header & 0x60 | 28, header & 0x1F)
        let (start, end): ([UInt8], [UInt8]) = ([indicator, 0x80 | type], [indicator, 0x40 | type])
        var receiver = Receiver()
        receiver.take(0, 900, Self.sps)
        receiver.take(1, 900, Self.pps)
        receiver.take(2, 900, start + body.prefix(35_000))
        receiver.take(3, 900, end + body.dropFirst(35_000))
        receiver.take(4, 900, [0x65, 8], marker: true)
        var expected: [UInt8] = [0, 1, 0x11, 0x71, header]
        expected += body
        expected += [0, 0, 0, 2, 0x65, 8]
        let sets = ParameterSets(sequence: [Self.sps], picture: [Self.pps])
        #expect(receiver.units == [AccessUnit(timestamp: 900, bytes: expected, isKeyframe: true, parameterSets: sets)])
    }

    @Test
    func `parameter sets go behind a delimiter, and before everything else`() {
        let (delimiter, slice): ([UInt8], [UInt8]) = ([0, 0, 0, 2, 9, 0x10], [0, 0, 0, 2, 0x65, 8])
        let added: [UInt8] = [0, 0, 0, 1, 0x67, 0, 0, 0, 1, 0x68]
        let sets = ParameterSets(sequence: [[0x67]], picture: [[0x68]])
        var unit = AccessUnit(timestamp: 0, bytes: slice, isKeyframe: true, parameterSets: sets)
        #expect(unit.bytesWithSets == added + slice)
        unit.bytes = delimiter + slice
        #expect(unit.bytesWithSets == delimiter + added + slice)
    }

    private func withBuffers(_ units: [[UInt8]], _ body: ([UnsafeRawBufferPointer]) -> Void) {
        var buffers: [UnsafeRawBufferPointer] = []
        for unit in units {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: unit.count, alignment: 1)
            copy.copyBytes(from: unit)
            buffers.append(UnsafeRawBufferPointer(copy))
        }
        body(buffers)
        for buffer in buffers { buffer.deallocate() }
    }
}
