import TestSupport
import Testing
import Wire

@testable import H264

/// What x264 and GStreamer 1.22 (`timecodestamper ! x264enc ! h264parse update-timecode=true`) wrote, and what OBS 32.2 writes.
@Suite("The clock of a picture")
struct PictureClockTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.count, by: 2).compactMap { place in
            UInt8(hexadecimal.dropFirst(place).prefix(2), radix: 16)
        }
    }

    /// pic_struct, no HRD.
    private static let plain = bytes("6742c015d901419f9f016a0c0c0d4a000003000200000300793e2c5c90")
    /// pic_struct, and delays of an HRD.
    private static let constant = bytes(
        "6742c00dd901419f9f016a0c0c0d4a00000300020000030079c080061a800c35c92601f142a480")

    private static func read(_ unit: [UInt8], _ set: [UInt8]? = nil) throws -> PictureClock? {
        let set = try set.map { try SequenceParameterSet(parsing: $0.span.bytes) }
        return PictureClock(inSEI: unit.span.bytes, of: set)
    }

    @Test(arguments: [
        (plain, "06010809000fedb8000003018080", Duration.milliseconds(46 * 60_000 + 54_500)),
        (plain, "060108090003efb8000003018080", .milliseconds(46 * 60_000 + 55_100)),
        (constant, "06010600000480002080030280", .zero),
        (constant, "0601070280048002c1408080", .seconds(1) + .nanoseconds(166_666_666)),
    ])
    func `a timecode is a time since midnight`(set: [UInt8], unit: String, time: Duration) throws {
        #expect(try Self.read(Self.bytes(unit), set) == .timecode(time))
    }

    @Test func `a timecode needs the parameter set that says how it is written`() throws {
        let unit = Self.bytes("06010809000fedb8000003018080")
        #expect(try Self.read(unit) == nil)
        var other = SPSBuilder()
        other.timing = (1, 60)
        #expect(try Self.read(unit, other.bytes) == nil, "no pic_struct_present_flag")
    }

    @Test func `the time at which OBS composed a picture is found behind other messages`() throws {
        var message = PerformanceBuilder(Self.time, [(1, 1)])
        message.time = Array("2026-11-22T12:26:03.591Z".utf8) + [0]
        let time = try #require(WallTime(iso8601Basic: "20261122T122603Z")) + .milliseconds(591)
        #expect(try Self.read(message.composed()) == .composed(time))
        #expect(try Self.read([6, 4, 2, 7, 7] + message.composed().dropFirst()) == .composed(time))
        #expect(try Self.read(message.composed(event: 2)) == nil, "when it was encoded")
        #expect(try Self.read(message.bytes) == nil, "an event that is none of those")
    }

    private static let time = bytes("0aecffe752724e2fa62fd19cd61a93b5")

    @Test func `every cut of a message is none, and no byte changed ends the process`() throws {
        var message = PerformanceBuilder(Self.time, [(1, 1)])
        message.time = Array("2026-11-22T12:26:03.591Z".utf8) + [0]
        for whole in [message.composed(), Self.bytes("06010809000fedb8000003018080")] {
            for length in 0..<(whole.count - 6) { #expect(try Self.read(Array(whole.prefix(length)), Self.plain) == nil) }
            for index in whole.indices {
                for byte in [0, 3, 0x80, 0xFF] as [UInt8] {
                    var changed = whole
                    changed[index] = byte
                    _ = try Self.read(changed, Self.plain)
                }
            }
        }
    }
}

extension PerformanceBuilder {
    /// A message of times alone, of which this is the first.
    fileprivate func composed(event: UInt8 = 1) -> [UInt8] {
        let payload = identifier + [0, 1, event] + time
        return [6, 5, UInt8(payload.count)] + payload + [0x80]
    }
}
