import AAC
import Settings

/// One stream's way from AAC to Opus.
final class AACToOpusSession: TranscodingSession {
    private struct Codecs {
        var decoder: AACDecoder
        var converter: SampleRateConverter?
        var encoder: OpusEncoder
    }

    private let config: AudioSpecificConfig
    private let settings: TranscodingSettings
    private let channelCount: Int
    private var codecs: Codecs?
    private var alignment: AudioAlignment
    /// Interleaved samples at 48 kHz that do not fill a packet yet.
    private var samples: [Float] = []
    private var interleaved: [Float] = []
    /// Media time of the first of `samples`.
    private var samplesTime: Int64 = 0

    init(_ config: AudioSpecificConfig, settings: TranscodingSettings) {
        (self.config, self.settings) = (config, settings)
        channelCount = config.isStereoInOpus ? 2 : 1
        alignment = AudioAlignment(sampleRate: config.sampleRate)
    }

    func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, into packets: inout PacketBatch
    ) throws(TranscodingError) {
        let codecs = try openedCodecs()
        let decoded = unsafe codecs.decoder.decode(frame) { audio -> TranscodingError? in
            guard audio.sampleRate == config.sampleRate else { return .formatChanged }
            align(audio.sampleCount, stamp: mediaTime, codecs, into: &packets) { correction in
                append(audio, codecs.converter, correction: correction)
            }
            return nil
        }
        if let decoded, let error = decoded { throw error }
        if decoded == nil {
            // What cannot be decoded is silence of the same length, so that the rest stays in its place.
            align(config.samplesPerFrame, stamp: mediaTime, codecs, into: &packets) { correction in
                let ticks = config.samplesPerFrame * Int(AudioAlignment.ticksPerSecond) / config.sampleRate
                samples.append(contentsOf: repeatElement(0, count: (ticks + correction) * channelCount))
            }
        }
        encodeWholePackets(codecs, into: &packets)
    }

    private func openedCodecs() throws(TranscodingError) -> Codecs {
        if let codecs { return codecs }
        let opened = Codecs(
            decoder: try AACDecoder(config),
            converter: config.sampleRate == AudioAlignment.ticksPerSecond
                ? nil : try SampleRateConverter(from: config.sampleRate, channelCount: channelCount),
            encoder: try OpusEncoder(channelCount: channelCount, settings: settings))
        codecs = opened
        return opened
    }

    private func align(
        _ sampleCount: Int, stamp: Int64, _ codecs: Codecs, into packets: inout PacketBatch, append: (_ correction: Int) -> Void
    ) {
        let isFirst = alignment.position == nil
        let action = alignment.frameDecoded(stamp: stamp, samples: sampleCount)
        if isFirst { samplesTime = stamp }
        switch action {
        case .encode(let correction): append(correction)
        case .drop: break
        case .gap, .restart:
            finishPacket(codecs, into: &packets)
            samplesTime = stamp - Int64(codecs.converter?.heldSampleCount ?? 0)
            append(0)
        }
    }

    private func append(_ audio: DecodedAudio, _ converter: SampleRateConverter?, correction: Int) {
        let channelCount = channelCount
        guard let converter else {
            let count = interleave(audio)
            return unsafe interleaved.withUnsafeBufferPointer {
                let block = unsafe UnsafeBufferPointer(rebasing: $0[..<count])
                unsafe SampleStretching.append(block, channelCount: channelCount, correction: correction, to: &samples)
            }
        }
        unsafe converter.convert(audio) {
            unsafe SampleStretching.append($0, channelCount: channelCount, correction: correction, to: &samples)
        }
    }

    /// Puts the planes into `interleaved`; returns how many values that are. One access for the whole frame: checked accesses to
    /// the object's storage for every sample would cost a fifth of the encoder's time.
    private func interleave(_ audio: DecodedAudio) -> Int {
        let (channelCount, sampleCount) = (channelCount, audio.sampleCount)
        let valueCount = sampleCount * channelCount
        if interleaved.count < valueCount { interleaved = Array(repeating: 0, count: valueCount) }
        let (left, right) = unsafe (audio.plane(0), audio.plane(1))
        unsafe interleaved.withUnsafeMutableBufferPointer { output in
            // Both channels in one loop, which the compiler makes one of vectors.
            guard channelCount == 2 else { return _ = unsafe output.update(fromContentsOf: left[..<sampleCount]) }
            for index in 0..<sampleCount {
                unsafe output[2 * index] = unsafe left[index]
                unsafe output[2 * index + 1] = unsafe right[index]
            }
        }
        return valueCount
    }

    private func encodeWholePackets(_ codecs: Codecs, into packets: inout PacketBatch) {
        let packetSampleCount = OpusEncoder.samplesPerPacket * channelCount
        var used = 0
        unsafe samples.withUnsafeBufferPointer { buffer in
            while let base = buffer.baseAddress, buffer.count - used >= packetSampleCount {
                packets.append(at: samplesTime - Int64(codecs.encoder.lookAhead)) { bytes in
                    unsafe codecs.encoder.encode(base + used, into: &bytes)
                }
                used += packetSampleCount
                samplesTime += Int64(OpusEncoder.samplesPerPacket)
            }
        }
        samples.removeFirst(used)
    }

    /// Fills the packet at hand with silence before a gap.
    private func finishPacket(_ codecs: Codecs, into packets: inout PacketBatch) {
        let packetSampleCount = OpusEncoder.samplesPerPacket * channelCount
        if !samples.isEmpty {
            samples.append(contentsOf: repeatElement(0, count: packetSampleCount - samples.count % packetSampleCount))
        }
        encodeWholePackets(codecs, into: &packets)
    }
}
