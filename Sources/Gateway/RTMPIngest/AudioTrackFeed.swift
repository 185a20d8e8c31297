import AAC
import FLV
import Opus
import Refusals
import StageHub
import Transcoding
import Wire

/// The one track of an encoder's audio that is taken: AAC goes through the transcoder and comes back
/// as Opus, Opus passes. Confined.
final class AudioTrackFeed {
    private let publication: Publication
    private let writer: AudioFrameWriter
    private let inspector: (any MediaInspector)?
    private let transcoder: AudioTranscoder
    /// The moment, for packets that come back from the transcoder.
    private let now: () -> MonotonicTime
    /// The last sequence header, where that was AAC's.
    private var config: AudioSpecificConfig?
    /// Whose it was, for every frame: a look at the header itself would copy it.
    private var carriesOpus: Bool?
    private var stream: TranscodingStream?
    private let allowance = FrameAllowance()
    /// What ends the publish, found when packets came back from the transcoder.
    private(set) var failure: Refusal?
    private var refusedCodec: AudioCodec?
    /// Where the last packet ended, in ticks.
    private var opusEnd: Int64?
    private(set) var lastMediaTime: Duration?

    init(
        publication: Publication, inspector: (any MediaInspector)?, transcoder: AudioTranscoder,
        now: @escaping () -> MonotonicTime
    ) {
        (self.publication, self.inspector, self.transcoder, self.now) = (publication, inspector, transcoder, now)
        writer = AudioFrameWriter(publication: publication)
    }

    /// Takes its part of a message.
    /// - Returns: what ends the publish.
    func take(_ tag: AudioTag, _ message: inout MediaMessage) -> Refusal? {
        let body = unsafe message.body(of: tag)
        guard case .codedFrames = tag.packet else { return unsafe describe(tag.packet, tag.codec, body, &message) }
        switch tag.codec {
        case .aac: return unsafe forwardAAC(body, message.stamp(of: tag), &message)
        case .opus: return unsafe forward(body, isOpus: true, message.stamp(of: tag), &message)
        default: return refuse(tag.codec, &message)
        }
    }

    /// Nothing more comes back from the transcoder.
    func close() { stream = nil }

    private func refuse(_ codec: AudioCodec, _ message: inout MediaMessage) -> Refusal? {
        message.counters.unsupported += 1
        guard refusedCodec != codec else { return nil }
        refusedCodec = codec
        return inspector?.foundAudioCodec(codec.name, arrival: message.arrival)
    }

    /// Takes what the track says of its frames: a sequence header, or the channels.
    /// - Returns: what ends the publish.
    func describe(
        _ packet: AudioTag.Packet, _ codec: AudioCodec, _ body: UnsafeRawBufferPointer, _ message: inout MediaMessage
    ) -> Refusal? {
        switch (packet, codec) {
        case (.sequenceStart, .aac): unsafe configureAAC(body, &message)
        case (.sequenceStart, .opus): unsafe configureOpus(body, &message)
        case (.sequenceStart, _): refuse(codec, &message)
        case (.multichannelConfiguration, .opus): unsafe judgeChannels(body, message)
        default: nil
        }
    }

    private func configureAAC(_ header: UnsafeRawBufferPointer, _ message: inout MediaMessage) -> Refusal? {
        guard let new = try? unsafe AudioSpecificConfig(parsing: header.bytes) else {
            message.counters.malformed += 1
            return nil
        }
        return configure(new, &message)
    }

    private func configure(_ new: AudioSpecificConfig, _ message: inout MediaMessage) -> Refusal? {
        // A codec that was refused in between makes a known one news.
        guard new != config || refusedCodec != nil else { return nil }
        if let refusal = inspector?.audioConfigured(new, arrival: message.arrival) { return refusal }
        (config, carriesOpus, refusedCodec) = (new, false, nil)
        // What a relaxed contract lets pass beside AAC-LC is recorded, not transcoded.
        stream =
            new.isLowComplexity ? transcoder.open(new, allowance: allowance) { [weak self] in self?.received($0) } : nil
        publication.setSourceAudioFormat(.aac(configuration: new.bytes))
        publication.setFormat(.opus(isStereo: new.isStereoInOpus), of: .audio)
        return nil
    }

    private func configureOpus(_ header: UnsafeRawBufferPointer, _ message: inout MediaMessage) -> Refusal? {
        // An empty header stands for one channel or two (Enhanced RTMP v2), which a decoder of two takes alike.
        guard let head = try? unsafe header.isEmpty ? OpusHead(channelCount: 2) : OpusHead(parsing: header.bytes) else {
            message.counters.malformed += 1
            return nil
        }
        let refusal = inspector?.opusConfigured(channelCount: Int(head.channelCount), arrival: message.arrival)
        if let refusal { return refusal }
        (config, carriesOpus, refusedCodec, stream) = (nil, true, nil, nil)
        // In this order, by which who keeps audio as it came hears once what that is now.
        publication.setFormat(.opus(isStereo: head.channelCount == 2), of: .audio)
        publication.setSourceAudioFormat(nil)
        return nil
    }

    /// Beside an empty header of Opus this alone tells of more channels than two; AAC's header always tells its own.
    private func judgeChannels(_ configuration: UnsafeRawBufferPointer, _ message: MediaMessage) -> Refusal? {
        // Their order stands before their number.
        guard configuration.count > 1 else { return nil }
        let channelCount = unsafe Int(configuration[1])
        return channelCount > 2 ? inspector?.opusConfigured(channelCount: channelCount, arrival: message.arrival) : nil
    }

    /// Some encoders leave each frame's ADTS header where it was; those of them that send no sequence header tell there what
    /// it would.
    private func forwardAAC(
        _ frame: UnsafeRawBufferPointer, _ stamp: Duration, _ message: inout MediaMessage
    ) -> Refusal? {
        guard let header = unsafe ADTSHeader(of: frame.bytes) else {
            return unsafe forward(frame, isOpus: false, stamp, &message)
        }
        if carriesOpus == nil, let told = header.configuration, let refusal = configure(told, &message) { return refusal }
        let raw = unsafe UnsafeRawBufferPointer(rebasing: frame.dropFirst(header.byteCount))
        return unsafe forward(raw, isOpus: false, stamp, &message)
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, isOpus: Bool, _ stamp: Duration, _ message: inout MediaMessage
    ) -> Refusal? {
        guard carriesOpus == isOpus else {
            message.counters.unconfigured += 1
            return nil
        }
        guard unsafe !frame.isEmpty, frame.count <= Self.maximumFrameByteCount, unsafe !isConfiguration(frame) else {
            return nil
        }
        let arrival = message.arrival
        let mediaTime = publication.timeline.place(stamp, of: .audio, arrival: arrival)
        let timestamp = mediaTime.timestamp(for: .audio)
        if let refusal = inspector?.audioFrame(byteCount: frame.count, timestamp: timestamp, arrival: arrival) { return refusal }
        lastMediaTime = mediaTime
        message.counters.audioFrames += 1
        if isOpus {
            unsafe passOpus(frame, at: timestamp, &message)
        } else {
            unsafe stream?.submit(frame, mediaTime: timestamp)
            unsafe publication.forwardSourceAudio(frame, at: mediaTime, arrival: arrival)
        }
        return nil
    }

    /// Android's encoder gives its configuration once more as its first frame, and apps send that on. In a recording it would
    /// have Chromium give up the whole file.
    private func isConfiguration(_ frame: UnsafeRawBufferPointer) -> Bool {
        guard frame.count <= Self.shortFrameByteCount, let config else { return false }
        return unsafe frame.elementsEqual(config.bytes)
    }

    private func passOpus(_ packet: UnsafeRawBufferPointer, at timestamp: Int64, _ message: inout MediaMessage) {
        guard let samples = try? unsafe TOC.sampleCount(of: packet) else {
            message.counters.malformed += 1
            return
        }
        var start = timestamp
        // Stamps are whole milliseconds, Opus frames need not be: one this near to the end of the last begins there.
        if let end = opusEnd, (start &- end).magnitude <= AudioFrameWriter.continuityTolerance { start = end }
        opusEnd = start &+ Int64(samples)
        unsafe writer.write(packet, at: start, tickCount: Int64(samples), arrival: message.arrival)
    }

    private func received(_ audio: TranscodedAudio) {
        switch audio {
        case .packet(let packet, let ticks):
            unsafe writer.write(packet, at: ticks, tickCount: Self.transcodedPacketTicks, arrival: now())
        case .failed:
            stream = nil
            failure = inspector?.audioNotDecodable(arrival: now())
        }
    }

    /// Of a packet of 20 ms, as the transcoder makes them.
    private static let transcodedPacketTicks: Int64 = 960
    /// Only so short a frame is compared with the configuration, of which AAC-LC has 2 to 5 bytes.
    private static let shortFrameByteCount = 8
    /// Raw AAC frames have at most 6,144 bits a channel.
    private static let maximumFrameByteCount = 8_192
}
