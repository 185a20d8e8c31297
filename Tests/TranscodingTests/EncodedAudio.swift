import AAC
import COpus
import Foundation
import TestSupport
import Testing

func sine(_ x: Double) -> Double { Foundation.sin(x) }

/// AAC made by ffmpeg at test time.
struct EncodedAudio {
    var config: AudioSpecificConfig
    var frames: [[UInt8]]

    /// - Parameter filter: an lavfi source.
    init(filter: String, seconds: Int, rate: Int, channels: Int) throws {
        let stream = try FFmpeg.output([
            "-f", "lavfi", "-i", filter, "-t", "\(seconds)", "-ar", "\(rate)", "-ac", "\(channels)", "-c:a", "aac", "-b:a",
            "128k", "-f", "adts", "-",
        ])
        config = try #require(AudioSpecificConfig(lowComplexityAt: rate, channelCount: channels))
        frames = Self.frames(inADTS: stream)
    }

    /// The raw frames of an ADTS stream: headers of 7 bytes, 9 with a checksum.
    private static func frames(inADTS stream: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var offset = 0
        while offset + 7 <= stream.count {
            let length = Int(stream[offset + 3] & 3) << 11 | Int(stream[offset + 4]) << 3 | Int(stream[offset + 5]) >> 5
            let header = stream[offset + 1] & 1 == 1 ? 7 : 9
            frames.append(Array(stream[(offset + header)..<min(offset + length, stream.count)]))
            offset += length
        }
        return frames
    }

    /// Media time of a frame as RTMP would carry it: whole milliseconds, in ticks of 48 kHz.
    func stamp(_ index: Int) -> Int64 { Int64(index * config.samplesPerFrame * 1_000 / config.sampleRate) * 48 }
}

/// A listener: decodes Opus packets and lays their samples where their RTP time puts them.
final class OpusListener {
    private let decoder: OpaquePointer
    private let channels: Int
    private let channel: Int
    private(set) var samples: [Float] = []
    private(set) var packetTimes: [Int64] = []

    init(channels: Int, channel: Int = 0) {
        var status: CInt = 0
        (self.channels, self.channel) = (channels, channel)
        decoder = opus_decoder_create(48_000, CInt(channels), &status)
    }

    /// The channel grows by one packet; time before 0 is not kept.
    func hear(_ packet: UnsafeRawBufferPointer, at time: Int64) {
        packetTimes.append(time)
        var block = [Float](repeating: 0, count: 5_760 * channels)
        let count = packet.withMemoryRebound(to: UInt8.self) {
            Int(opus_decode_float(decoder, $0.baseAddress, Int32($0.count), &block, 5_760, 0))
        }
        let end = Int(time) + count
        if samples.count < end { samples.append(contentsOf: repeatElement(0, count: end - samples.count)) }
        for index in 0..<max(count, 0) where Int(time) + index >= 0 {
            samples[Int(time) + index] = block[index * channels + channel]
        }
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Strength of a tone, 0 to 1 (Goertzel).
    func level(of frequency: Double, in range: Range<Int>) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for index in range {
            let angle = 2 * Double.pi * frequency * Double(index) / 48_000
            real += Double(samples[index]) * Foundation.cos(angle)
            imaginary += Double(samples[index]) * Foundation.sin(angle)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(range.count)
    }

    /// The first sample louder than a tenth.
    var onset: Int? { samples.firstIndex { abs($0) > 0.1 } }
}
