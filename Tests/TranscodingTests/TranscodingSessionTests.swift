import AAC
import Settings
import TestSupport
import Testing

@testable import Transcoding

extension TranscodingSession {
    /// What comes of one frame: each packet with its time.
    func packets(of frame: [UInt8], at time: Int64) throws -> [([UInt8], Int64)] {
        var batch = PacketBatch(thread: 0, eventCount: 1)
        try frame.withUnsafeBytes { try transcode($0, mediaTime: time, into: &batch) }
        return batch.events.compactMap { _, event in
            guard case .packet(let range, let mediaTime) = event else { return nil }
            return (Array(batch.bytes[range]), mediaTime)
        }
    }
}

@Suite("TranscodingSession")
struct TranscodingSessionTests {
    private func transcode(
        _ audio: EncodedAudio, stamp: (Int) -> Int64?, corrupting: Set<Int> = []
    ) throws -> OpusListener {
        let channels = audio.config.channelCount ?? 2
        let session = AACToOpusSession(audio.config, settings: TranscodingSettings())
        let listener = OpusListener(channels: channels)
        for (index, frame) in audio.frames.enumerated() {
            guard let stamp = stamp(index) else { continue }
            let frame = corrupting.contains(index) ? [0xFF, 0xFF, 0xFF] : frame
            for (packet, time) in try session.packets(of: frame, at: stamp) {
                packet.withUnsafeBytes { listener.hear($0, at: time) }
            }
        }
        return listener
    }

    @Test(arguments: [44_100, 48_000], [1, 2])
    func `a tone keeps its pitch and strength, without a gap, for as long as it lasts`(_ rate: Int, _ channels: Int) throws {
        let audio = try EncodedAudio(
            filter: "sine=frequency=1000:sample_rate=\(rate),volume=4", seconds: 10, rate: rate, channels: channels)
        let listener = try transcode(audio) { audio.stamp($0) }
        let steps = zip(listener.packetTimes, listener.packetTimes.dropFirst()).map { $1 - $0 }
        #expect(Set(steps) == [960])
        let length = Double(audio.frames.count * 1_024) / Double(rate)
        #expect(abs(Double(listener.packetTimes.count) * 0.02 - length) < 0.041)
        for second in 1..<9 {
            let range = (second * 48_000)..<((second + 1) * 48_000)
            #expect(listener.level(of: 1_000, in: range) > 0.3)
            #expect(listener.level(of: 1_003, in: range) < 0.02)
        }
    }

    @Test(arguments: [44_100, 48_000])
    func `left stays left, and right stays right`(_ rate: Int) throws {
        let tones = "aevalsrc=exprs='0.8*sin(2*PI*1000*t)|0.8*sin(2*PI*2500*t)':sample_rate=\(rate)"
        let audio = try EncodedAudio(filter: tones, seconds: 3, rate: rate, channels: 2)
        let session = AACToOpusSession(audio.config, settings: TranscodingSettings())
        let ears = [OpusListener(channels: 2), OpusListener(channels: 2, channel: 1)]
        for (index, frame) in audio.frames.enumerated() {
            for (packet, time) in try session.packets(of: frame, at: audio.stamp(index)) {
                packet.withUnsafeBytes { bytes in for ear in ears { ear.hear(bytes, at: time) } }
            }
        }
        for (ear, (own, other)) in zip(ears, [(1_000.0, 2_500.0), (2_500.0, 1_000.0)]) {
            #expect(ear.level(of: own, in: 48_000..<96_000) > 0.6)
            #expect(ear.level(of: other, in: 48_000..<96_000) < 0.05)
        }
    }

    @Test(arguments: [(1, 24_000), (1, 96_000), (2, 48_000), (2, 128_000)])
    func `sound takes the bitrate that is set for its channels`(_ channels: Int, _ bitrate: Int) throws {
        var settings = TranscodingSettings()
        (settings.monoBitrate, settings.stereoBitrate) = (channels == 1 ? bitrate : 300_000, channels == 2 ? bitrate : 300_000)
        let encoder = try OpusEncoder(channelCount: channels, settings: settings)
        var random = SplitMix64(seed: 1)
        var output: [UInt8] = []
        for _ in 0..<100 {
            let noise = (0..<OpusEncoder.samplesPerPacket * channels).map { _ in Float.random(in: -0.5...0.5, using: &random) }
            noise.withUnsafeBufferPointer { samples in
                if let first = samples.baseAddress { encoder.encode(first, into: &output) }
            }
        }
        let taken = output.count * 8 / 2
        #expect((bitrate * 3 / 4...bitrate * 5 / 4).contains(taken), "\(taken) bit/s")
    }

    @Test(arguments: [44_100, 48_000])
    func `a beep is heard at its media time to the millisecond`(_ rate: Int) throws {
        // The encoder's priming of 1,024 samples stays where the stamps put it.
        let audio = try EncodedAudio(
            filter: "aevalsrc=exprs='if(gte(t,1),0.8*sin(2*PI*2000*t),0)':sample_rate=\(rate)", seconds: 2, rate: rate,
            channels: 1)
        let listener = try transcode(audio) { audio.stamp($0) }
        let expected = 48_000 + 1_024 * 48_000 / rate
        let onset = try #require(listener.onset)
        #expect(abs(onset - expected) < 96, "heard \(onset - expected) samples late")
    }

    @Test
    func `half a second without frames is a jump of the RTP time and nothing moves`() throws {
        let audio = try EncodedAudio(
            filter: "aevalsrc=exprs='if(gte(t,2),0.8*sin(2*PI*2000*t),0)':sample_rate=48000", seconds: 3, rate: 48_000,
            channels: 2)
        let listener = try transcode(audio) { (20..<44).contains($0) ? nil : audio.stamp($0) }
        let steps = zip(listener.packetTimes, listener.packetTimes.dropFirst()).map { $1 - $0 }.filter { $0 != 960 }
        #expect(steps.count == 1)
        #expect(abs((listener.onset ?? 0) - 96_000 - 1_024) < 96)
    }

    @Test
    func `frames that cannot be decoded are silence of the same length`() throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 3, rate: 48_000, channels: 2)
        let listener = try transcode(audio, stamp: { audio.stamp($0) }, corrupting: [50, 51, 90])
        #expect(Set(zip(listener.packetTimes, listener.packetTimes.dropFirst()).map { $1 - $0 }) == [960])
        #expect(listener.packetTimes.count == audio.frames.count * 1_024 / 960)
    }

    /// Left alone its sound would end 60 ms early; 40 ms are let pass, half of them for the packet that is not full.
    @Test
    func `an encoder clock 1,000 ppm fast stays on its stamps`() throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 60, rate: 48_000, channels: 1)
        let listener = try transcode(audio) { Int64(Double(audio.stamp($0)) * 1.001 / 48) * 48 }
        let end = listener.packetTimes.last ?? 0
        let expected = Int64(Double(audio.frames.count * 1_024) * 1.001)
        #expect(Set(zip(listener.packetTimes, listener.packetTimes.dropFirst()).map { $1 - $0 }) == [960])
        #expect(abs(end + 960 + 312 - expected) < 960 + 2 * AudioAlignment.tolerance)
    }

    /// libavcodec itself takes frequencies by their numbers alone.
    @Test
    func `a configuration may tell its frequency in full`() throws {
        var audio = try EncodedAudio(
            filter: "sine=frequency=1000:sample_rate=48000,volume=4", seconds: 2, rate: 48_000, channels: 2)
        let toldInFull: [UInt8] = [0x17, 0x80, 0x5D, 0xC0, 0x10]
        audio.config = try AudioSpecificConfig(parsing: toldInFull.span.bytes)
        let listener = try transcode(audio) { audio.stamp($0) }
        #expect(listener.level(of: 1_000, in: 48_000..<72_000) > 0.3)
    }

    @Test
    func `a configuration that hides another rate fails by name`() throws {
        var audio = try EncodedAudio(filter: "sine=frequency=440:sample_rate=48000", seconds: 1, rate: 48_000, channels: 2)
        audio.config.sampleRate = 44_100
        #expect(throws: TranscodingError.formatChanged) { try transcode(audio) { audio.stamp($0) } }
    }
}

@Suite("Opus to AAC, for recordings")
struct OpusToAACSessionTests {
    /// Opus made of ffmpeg's AAC, made into AAC, and heard as Opus again: three ways through codecs.
    private func hear(
        _ audio: EncodedAudio, losing isLost: (Int) -> Bool = { _ in false }
    ) throws -> (listener: OpusListener, times: [Int64]) {
        let channels = audio.config.channelCount ?? 2
        let (first, session) = (
            AACToOpusSession(audio.config, settings: TranscodingSettings()), OpusToAACSession(channelCount: channels)
        )
        let again = AACToOpusSession(audio.config, settings: TranscodingSettings())
        let listener = OpusListener(channels: channels)
        var (number, times) = (0, [Int64]())
        for (index, frame) in audio.frames.enumerated() {
            for (packet, time) in try first.packets(of: frame, at: Int64(index * 1_024)) {
                number += 1
                if isLost(number) { continue }
                for (frame, time) in try session.packets(of: packet, at: time) {
                    times.append(time)
                    for (packet, time) in try again.packets(of: frame, at: time) {
                        packet.withUnsafeBytes { listener.hear($0, at: time) }
                    }
                }
            }
        }
        return (listener, times)
    }

    /// Each packet of 20 ms says that some time has passed: what is made for it is no more than a second, and what packets last.
    @Test(arguments: [47_040, 96_000, -96_000] as [Int64])
    func `times that jump cost no more than sound`(_ step: Int64) throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 5, rate: 48_000, channels: 2)
        let first = AACToOpusSession(audio.config, settings: TranscodingSettings())
        let session = OpusToAACSession(channelCount: 2)
        var (packetCount, made) = (Int64(0), 0)
        for (index, frame) in audio.frames.enumerated() {
            for (packet, _) in try first.packets(of: frame, at: Int64(index * 1_024)) {
                made += try session.packets(of: packet, at: 100_000_000 + packetCount * step).count
                packetCount += 1
            }
        }
        #expect(packetCount > 200)
        // Made up, and their own; behind another encoder's beginning one packet does not fill a frame.
        #expect(made > 0 || step < 0)
        #expect(made <= Int(2 * packetCount * 960 + 48_000) / AACEncoder.samplesPerFrame)
    }

    @Test(arguments: [1, 2])
    func `a tone keeps its pitch and strength, frame by frame`(channels: Int) throws {
        let audio = try EncodedAudio(
            filter: "sine=frequency=1000:sample_rate=48000,volume=4", seconds: 5, rate: 48_000, channels: channels)
        let (listener, times) = try hear(audio)
        #expect(Set(zip(times, times.dropFirst()).map { $1 - $0 }) == [1_024])
        #expect(times.count > 5 * 48_000 / 1_024 - 4)
        for second in 1..<4 {
            let range = (second * 48_000)..<((second + 1) * 48_000)
            #expect(listener.level(of: 1_000, in: range) > 0.3)
            #expect(listener.level(of: 1_003, in: range) < 0.02)
        }
    }

    @Test
    func `a beep is heard at its media time`() throws {
        let audio = try EncodedAudio(
            filter: "aevalsrc=exprs='if(gte(t,1),0.8*sin(2*PI*2000*t),0)':sample_rate=48000", seconds: 2, rate: 48_000,
            channels: 1)
        let onset = try #require(try hear(audio).listener.onset)
        // ffmpeg's priming stays where its stamps put it.
        #expect(abs(onset - 48_000 - 1_024) < 192, "heard \(onset - 49_024) samples late")
    }

    /// A second of talk and two of silence in turn, in which a packet comes every 400 ms.
    @Test
    func `what is said behind pauses of DTX is there from its first word on`() throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 12, rate: 48_000, channels: 1)
        let (_, times) = try hear(audio) { $0 % 150 >= 50 && $0 % 20 != 0 }
        for turn in 0..<4 as Range<Int64> {
            // Less two frames: that with the last of the talk goes on in the pause.
            let talk = (turn * 150 * 960)..<((turn * 150 + 50) * 960 - 2_048)
            #expect(times.count { talk.contains($0) } >= 44, "turn \(turn)")
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// Packets of 20 ms, of which those are missing; and how often time jumps.
    @Test(arguments: [(50..<51, 0), (50..<90, 0), (50..<120, 1)])
    func `what is missing up to a second is concealed, and time jumps over more`(missing: Range<Int>, jumps: Int) throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 5, rate: 48_000, channels: 1)
        let (_, times) = try hear(audio) { missing.contains($0) }
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(steps.count { $0 != 1_024 } == jumps, "\(steps)")
        #expect(steps.allSatisfy { $0 > 0 })
    }
}
