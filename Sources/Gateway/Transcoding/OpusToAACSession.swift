/// One stream's way from Opus to AAC, for recordings, on its transcoding thread.
///
/// Packets come in order. What is missing up to a second is concealed, so that the sound goes on; over more, and over pauses of
/// DTX that follow each other, time jumps, and what comes behind is heard. Where times go back another encoder begins. Times that
/// jump again and again cost no more than sound does.
final class OpusToAACSession: TranscodingSession {
    private struct Codecs {
        let decoder: OpusDecoder
        let encoder: AACEncoder
    }

    private let channelCount: Int
    private var codecs: Codecs?
    /// Interleaved samples that do not fill a frame yet.
    private var samples: [Float] = []
    /// Media time of the first of `samples`.
    private var samplesTime: Int64 = 0
    /// Samples that may be made up, or the time that another encoder costs: as many as came lately.
    private var credit = longestConcealed

    init(channelCount: Int) { self.channelCount = channelCount }

    func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, into packets: inout PacketBatch
    ) throws(TranscodingError) {
        let missing = mediaTime - samplesTime - Int64(samples.count / channelCount)
        // What came late was concealed.
        if codecs != nil, (-Self.longestLate..<0).contains(missing) { return }
        guard let codecs = try readyCodecs(at: mediaTime, missing: missing, into: &packets) else { return }
        if unsafe codecs.decoder.decode(frame, into: &samples) == 0 { return }
        encodeWholeFrames(codecs.encoder, into: &packets)
    }

    /// The codecs, with what is missing bridged.
    /// - Returns: nil where times went back too often: the packet is left out.
    private func readyCodecs(
        at mediaTime: Int64, missing: Int64, into packets: inout PacketBatch
    ) throws(TranscodingError) -> Codecs? {
        guard let codecs else { return try openCodecs(at: mediaTime) }
        credit = min(Self.longestConcealed, credit + Self.usualSampleCount)
        if missing < 0 {
            guard pays(for: Self.longestConcealed) else { return nil }
            return try openCodecs(at: mediaTime)
        }
        if pays(for: missing) {
            codecs.decoder.conceal(Int(missing), into: &samples)
        } else {
            pause(until: mediaTime, codecs.encoder, into: &packets)
        }
        return codecs
    }

    private func pays(for cost: Int64) -> Bool {
        guard cost <= credit else { return false }
        credit -= cost
        return true
    }

    private func openCodecs(at mediaTime: Int64) throws(TranscodingError) -> Codecs {
        (samples, samplesTime) = ([], mediaTime)
        let opened = Codecs(
            decoder: try OpusDecoder(channelCount: channelCount), encoder: try AACEncoder(channelCount: channelCount))
        codecs = opened
        return opened
    }

    /// Fills the frame at hand with silence, which the packet behind the pause pays; the encoder goes on with that.
    private func pause(until mediaTime: Int64, _ encoder: AACEncoder, into packets: inout PacketBatch) {
        credit -= Self.usualSampleCount
        let frameSampleCount = AACEncoder.samplesPerFrame * channelCount
        if !samples.isEmpty {
            samples.append(contentsOf: repeatElement(0, count: frameSampleCount - samples.count % frameSampleCount))
        }
        encodeWholeFrames(encoder, into: &packets)
        samplesTime = mediaTime
    }

    private func encodeWholeFrames(_ encoder: AACEncoder, into packets: inout PacketBatch) {
        let frameSampleCount = AACEncoder.samplesPerFrame * channelCount
        var used = 0
        unsafe samples.withUnsafeBufferPointer { buffer in
            while let base = buffer.baseAddress, buffer.count - used >= frameSampleCount {
                unsafe encoder.encode(base + used, at: samplesTime) { bytes, time in
                    packets.append(at: time) { unsafe $0.append(contentsOf: bytes) }
                }
                used += frameSampleCount
                samplesTime += Int64(AACEncoder.samplesPerFrame)
            }
        }
        samples.removeFirst(used)
    }

    /// Of a packet: 20 ms.
    private static let usualSampleCount: Int64 = 960
    private static let longestConcealed = AudioAlignment.ticksPerSecond
    private static let longestLate = AudioAlignment.ticksPerSecond
}
