import H264
import MediaContract
import TestSupport
import Testing
import Wire

/// Streams made by x264 at test time, fed as RTMP and as WHIP would carry them.
@Suite("ContractMonitor with x264", .serialized)
struct EncodedStreamTests {
    /// Noise, which costs every bit that the encoder may spend.
    static let noise = "nullsrc=s=480x270:r=30,format=gray,noise=alls=100:allf=t,format=yuv420p"
    static let baseline = ["-profile:v", "baseline", "-bf", "0", "-preset", "ultrafast", "-g", "60"]

    /// The access units of a stream without B-frame reordering, in decoding order.
    static func accessUnits(_ source: String, seconds: Int, _ options: [String]) throws -> [[[UInt8]]] {
        let stream = try FFmpeg.output(
            ["-f", "lavfi", "-i", source, "-t", "\(seconds)", "-c:v", "libx264"] + options + [
                "-bsf:v", "h264_metadata=aud=insert", "-f", "h264", "-",
            ])
        var units: [[[UInt8]]] = []
        let delimiter = NALUnitType(rawValue: 9)
        for unit in AnnexB.nalUnits(stream) {
            if NALUnitHeader(unit[0]).type == delimiter { units.append([]) }
            units[max(units.count - 1, 0)].append(unit)
        }
        return units
    }

    private func feed(_ units: [[[UInt8]]], _ form: StreamFeeder.Form) -> StreamFeeder {
        var feeder = StreamFeeder(form)
        for unit in units where feeder.faults.isEmpty { feeder.feed(unit) }
        return feeder
    }

    /// Bitrate, buffer (kbit), more options.
    @Test(
        arguments: [
            (8_000, 8_000, []), (8_000, 16_000, []), (8_500, 8_500, []), (8_500, 8_500, ["-nal-hrd", "cbr"]),
        ] as [(Int, Int, [String])])
    func `CBR within the limit is left alone`(_ rate: Int, _ buffer: Int, _ more: [String]) throws {
        let seconds = 20
        let units = try Self.accessUnits(
            Self.noise, seconds: seconds,
            Self.baseline + ["-b:v", "\(rate)k", "-minrate", "\(rate)k", "-maxrate", "\(rate)k", "-bufsize", "\(buffer)k"] + more)
        let sent = units.joined().reduce(0) { $0 + $1.count } * 8 / seconds
        #expect(sent > rate * 900, "the clip must fill its rate: \(sent)")
        for form in [StreamFeeder.Form.accessUnits, .fragmented] { #expect(feed(units, form).news == []) }
    }

    @Test(arguments: [(9_500, 12.0), (12_000, 4.0)])
    func `more than the limit is found in time`(_ rate: Int, _ limit: Double) throws {
        let units = try Self.accessUnits(
            Self.noise, seconds: 15,
            Self.baseline + ["-b:v", "\(rate)k", "-minrate", "\(rate)k", "-maxrate", "\(rate)k", "-bufsize", "\(rate)k"])
        for form in [StreamFeeder.Form.accessUnits, .fragmented] {
            let feeder = feed(units, form)
            #expect(feeder.faults.first?.rule == .videoBitrate)
            #expect(feeder.time < limit)
        }
    }

    @Test(arguments: [
        (["-profile:v", "main", "-bf", "0", "-g", "60"], ContractRule.videoProfile),
        (["-profile:v", "high", "-bf", "0", "-g", "60"], .videoProfile),
        (["-profile:v", "high", "-bf", "2", "-g", "250"], .bFrames),
        (["-profile:v", "main", "-flags", "+ildct+ilme", "-bf", "0", "-g", "60"], .videoCodec),
        (["-profile:v", "baseline", "-s", "1920x1080", "-g", "60"], .maximumResolution),
    ])
    func `faults of real streams have their own rule`(_ options: [String], _ rule: ContractRule) throws {
        let units = try Self.accessUnits("testsrc2=s=640x360:r=30", seconds: 3, options + ["-preset", "veryfast"])
        for form in [StreamFeeder.Form.accessUnits, .fragmented] {
            let feeder = feed(units, form)
            #expect(feeder.faults.first?.rule == rule)
            #expect(feeder.time < 2.1)
        }
    }

    @Test(arguments: [
        ["-slices", "4"], ["-tune", "zerolatency"], ["-x264opts", "slice-max-size=1200"], ["-g", "30"],
        ["-x264opts", "keyint=1"],
    ])
    func `real Baseline streams are left alone`(_ options: [String]) throws {
        let units = try Self.accessUnits("testsrc2=s=1280x720:r=30", seconds: 5, Self.baseline + options)
        for form in StreamFeeder.Form.allCases { #expect(feed(units, form).news == []) }
    }
}
