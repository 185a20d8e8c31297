/// One stream's way from Opus to AAC, for recordings, on its transcoding thread.
///
/// Packets come in order. What is missing up to a second is concealed, so that the encoder goes on; behind a longer gap, and where
/// times go back, another encoder begins. Times that jump again and again cost no more than sound does: what comes then is left out.
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
    /// Samples that may be made up, or the time of another encoder: as many as came lately.
    private var credit = longestConcealed

    init(channelCount: Int) { self.channelCount = channelCount }

    func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, into packets: inout PacketBatch
    ) throws(TranscodingError) {
        let missing = mediaTime - samplesTime - Int64(samples.count / channelCount)
        // What came late was concealed.
        if codecs != nil, (-Self.longestLate..<0).contains(missing) { return }
        guard pays(for: missing) else { return }
        let codecs = try openedCodecs(at: mediaTime, missing: missing)
        if unsafe codecs.decoder.decode(frame, into: &samples) == 0 { return }
        encodeWholeFrames(codecs.encoder, into: &packets)
    }

    private func pays(for missing: Int64) -> Bool {
        guard codecs != nil else { return true }
        credit = min(Self.longestConcealed, credit + Self.usualSampleCount)
        let cost = (0...Self.longestConcealed).contains(missing) ? missing : Self.longestConcealed
        guard cost <= credit else { return false }
        credit -= cost
        return true
    }

    private func openedCodecs(at mediaTime: Int64, missing: Int64) throws(TranscodingError) -> Codecs {
        if let codecs, (0...Self.longestConcealed).contains(missing) {
            codecs.decoder.conceal(Int(missing), into: &samples)
            return codecs
        }
        (samples, samplesTime) = ([], mediaTime)
        let opened = Codecs(
            decoder: try OpusDecoder(channelCount: channelCount), encoder: try AACEncoder(channelCount: channelCount))
        codecs = opened
        return opened
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
