import H264
import TestSupport
import Testing
import Wire

@Suite("AVCCUnits")
struct AVCCUnitsTests {
    static let units: [[UInt8]] = [[0x09, 0xF0], [0x67, 1, 2, 3], [0x65, 0, 0, 3, 1] + Array(repeating: 7, count: 200)]

    private func lengthPrefixed(_ units: [[UInt8]], lengthSize: Int) -> [UInt8] {
        units.flatMap { unit in
            (0..<lengthSize).map { UInt8(truncatingIfNeeded: unit.count >> (8 * (lengthSize - 1 - $0))) } + unit
        }
    }

    private func collect(_ bytes: [UInt8], lengthSize: Int) throws -> [[UInt8]] {
        try bytes.withUnsafeBytes { bytes in
            var found: [[UInt8]] = []
            var units = AVCCUnits(bytes, lengthSize: lengthSize)
            while let unit = try units.next() { found.append(Array(unit)) }
            return found
        }
    }

    @Test(arguments: [1, 2, 4])
    func `length-prefixed units come back, empty ones stepped over`(_ lengthSize: Int) throws {
        let bytes = lengthPrefixed([[]] + Self.units + [[]], lengthSize: lengthSize)
        #expect(try collect(bytes, lengthSize: lengthSize) == Self.units)
    }

    @Test(arguments: [1, 2, 4])
    func `every prefix ends between units or throws`(_ lengthSize: Int) {
        let bytes = lengthPrefixed(Self.units, lengthSize: lengthSize)
        var ends: Set<Int> = [0]
        for unit in Self.units { ends.insert(ends.max()! + lengthSize + unit.count) }
        for length in 0..<bytes.count {
            let found = try? collect(Array(bytes.prefix(length)), lengthSize: lengthSize)
            #expect((found != nil) == ends.contains(length))
        }
    }

    @Test
    func `a length of 4 GB is beyond the end`() {
        #expect(throws: H264Error.lengthBeyondEnd) { try collect([0xFF, 0xFF, 0xFF, 0xFF, 0x65], lengthSize: 4) }
    }
}

@Suite("AVCDecoderConfigurationRecord")
struct AVCDecoderConfigurationRecordTests {
    static let record = AVCDecoderConfigurationRecord(
        sequenceParameterSet: SPSBuilder().bytes, pictureParameterSet: PPSBuilder().bytes, lengthSize: 4)

    private var bytes: [UInt8] {
        var writer = ByteWriter()
        Self.record.write(into: &writer)
        return writer.bytes
    }

    @Test
    func `comes back as written, with the high profiles' extension behind it`() throws {
        #expect(try AVCDecoderConfigurationRecord(parsing: bytes.span.bytes) == Self.record)
        let extended = bytes + [0xFD, 0xF8, 0xF8, 0x00]
        #expect(try AVCDecoderConfigurationRecord(parsing: extended.span.bytes) == Self.record)
    }

    @Test
    func `reserved bits sent as zero do not matter`() throws {
        var bytes = bytes
        (bytes[4], bytes[5]) = (3, 1)
        #expect(try AVCDecoderConfigurationRecord(parsing: bytes.span.bytes) == Self.record)
    }

    @Test
    func `every prefix throws`() {
        for length in 0..<bytes.count {
            let prefix = Array(bytes.prefix(length))
            #expect(throws: H264Error.self) { try AVCDecoderConfigurationRecord(parsing: prefix.span.bytes) }
        }
    }

    @Test
    func `refuses other versions and lengths of three bytes`() {
        var other = bytes
        other[0] = 0
        #expect(throws: H264Error.unsupportedRecord) { try AVCDecoderConfigurationRecord(parsing: other.span.bytes) }
        other = bytes
        other[4] = 0xFE
        #expect(throws: H264Error.unsupportedRecord) { try AVCDecoderConfigurationRecord(parsing: other.span.bytes) }
    }
}
