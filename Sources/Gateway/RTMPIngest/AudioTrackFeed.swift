import AAC
import FLV
import Opus
import Refusals
import StageHub
import Transcoding
import Wire

/// The audio of one RTMP publish: AAC goes through the transcoder and comes back as Opus, Opus passes. Tracks beside the main one
/// are passed over. Confined.
final class AudioTrackFeed {
    /// Of a packet of 20 ms, as the transcoder makes them.
    private static let transcodedPacketTicks: Int64 = 960
    /// Raw AAC frames have at most 6,144 bits a channel.
    private static let maximumFrameByteCount = 8_192
    /// An OpusHead of 255 channels has 276.
    private static let maximumHeaderByteCount = 512

    private enum Configuration: Equatable {
        case aac(AudioSpecificConfig)
        case opus
    }

    private let publication: Publication
    private let writer: AudioFrameWriter
    private let inspector: (any MediaInspector)?
    private let transcoder: AudioTranscoder
    /// The moment, for packets that come back from the transcoder.
    private let now: () -> MonotonicTime
    private var configuration: Configuration?
    /// Which of the two it is, for every frame: a look at the configuration itself would copy it.
    private var carriesOpus: Bool?
    private var stream: TranscodingStream?
    private let allowance = FrameAllowance()
    private var failure: Refusal?
    private var refusedCodec: AudioCodec?
    private var mainTrack = MainTrack()
    /// The last sequence header of each track, while the main one is not known.
    private var headers: [UInt8: (codec: AudioCodec, body: [UInt8])] = [:]
    private var passedOver: [PassedOverTracks.Audio] = []
    private var hasFurther = false
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

    /// Takes one audio message.
    /// - Returns: what ends the publish.
    func receive(_ message: inout MediaMessage) -> Refusal? {
        if let failure { return failure }
        guard var tracks = MessageTracks<AudioTag>(of: &message) else {
            publication.counters[.audio].count(byteCount: message.byteCount, endsFrame: false)
            return nil
        }
        while let (tag, byteCount) = tracks.next(in: &message) {
            if !mainTrack.isKnown, let refusal = lookForMain(tag, &message) { return refusal }
            guard tag.trackID == mainTrack.id else {
                passOver(tag, &message)
                continue
            }
            let frames = message.counters.audioFrames
            let refusal = take(tag, &message)
            publication.counters[.audio].count(byteCount: byteCount, endsFrame: message.counters.audioFrames > frames)
            if let refusal { return refusal }
        }
        return nil
    }

    private func take(_ tag: AudioTag, _ message: inout MediaMessage) -> Refusal? {
        let body = unsafe message.body(of: tag)
        switch (tag.packet, tag.codec) {
        case (.sequenceStart, _): return unsafe configure(tag.codec, body, &message)
        case (.codedFrames, .aac), (.codedFrames, .opus):
            return unsafe forward(body, isOpus: tag.codec == .opus, message.stamp(of: tag), &message)
        case (.codedFrames, _): return refuse(tag.codec, &message)
        default: return nil
        }
    }

    /// Where nothing has come of track 0, another one is the publish's, with the sequence header that it has sent.
    private func lookForMain(_ tag: AudioTag, _ message: inout MediaMessage) -> Refusal? {
        guard tag.packet == .sequenceStart || tag.packet == .codedFrames, mainTrack.came(tag.trackID, at: message.arrival)
        else { return nil }
        passedOver.removeAll { $0.id == mainTrack.id }
        let header = headers[mainTrack.id]
        headers = [:]
        guard let header else { return nil }
        return unsafe header.body.withUnsafeBytes { unsafe configure(header.codec, $0, &message) }
    }

    private func passOver(_ tag: AudioTag, _ message: inout MediaMessage) {
        if !mainTrack.isKnown, tag.packet == .sequenceStart, tag.body.count <= Self.maximumHeaderByteCount,
            headers[tag.trackID] != nil || headers.count < TrackPlaces.maximumTrackCount
        {
            headers[tag.trackID] = unsafe (codec: tag.codec, body: Array(message.body(of: tag)))
        }
        message.counters.otherTracks += 1
        guard !passedOver.contains(where: { $0.id == tag.trackID }) else { return }
        if passedOver.count + 1 < TrackPlaces.maximumTrackCount {
            passedOver.append(PassedOverTracks.Audio(id: tag.trackID, codec: tag.codec))
        } else {
            hasFurther = true
        }
    }

    /// What is not forwarded.
    func note(in tracks: inout PassedOverTracks) {
        guard mainTrack.isKnown else { return }
        tracks.audio = passedOver
        if hasFurther { tracks.hasFurther = true }
    }

    /// Nothing more comes back from the transcoder.
    func close() { stream = nil }

    private func refuse(_ codec: AudioCodec, _ message: inout MediaMessage) -> Refusal? {
        message.counters.unsupported += 1
        guard refusedCodec != codec else { return nil }
        refusedCodec = codec
        return inspector?.foundAudioCodec(codec.name, mediaTime: lastMediaTime ?? .zero, arrival: message.arrival)
    }

    /// Takes a sequence header.
    private func configure(
        _ codec: AudioCodec, _ header: UnsafeRawBufferPointer, _ message: inout MediaMessage
    ) -> Refusal? {
        switch codec {
        case .aac: unsafe configureAAC(header, &message)
        case .opus: unsafe configureOpus(header, &message)
        default: refuse(codec, &message)
        }
    }

    private func configureAAC(_ header: UnsafeRawBufferPointer, _ message: inout MediaMessage) -> Refusal? {
        guard let config = try? unsafe AudioSpecificConfig(parsing: header.bytes) else {
            message.counters.malformed += 1
            return nil
        }
        guard configuration != .aac(config) else { return nil }
        let refusal = inspector?.audioConfigured(config, mediaTime: lastMediaTime ?? .zero, arrival: message.arrival)
        if let refusal { return refusal }
        (configuration, carriesOpus) = (.aac(config), false)
        // What a relaxed contract lets pass beside AAC-LC is recorded, not transcoded.
        stream =
            config.isLowComplexity ? transcoder.open(config, allowance: allowance) { [weak self] in self?.received($0) } : nil
        publication.setSourceAudioFormat(.aac(configuration: config.bytes))
        publication.setFormat(.opus(isStereo: config.isStereoInOpus), of: .audio)
        return nil
    }

    private func configureOpus(_ header: UnsafeRawBufferPointer, _ message: inout MediaMessage) -> Refusal? {
        guard let head = try? unsafe OpusHead(parsing: header.bytes) else {
            message.counters.malformed += 1
            return nil
        }
        let refusal = inspector?.opusConfigured(
            channelCount: Int(head.channelCount), mediaTime: lastMediaTime ?? .zero, arrival: message.arrival)
        if let refusal { return refusal }
        (configuration, carriesOpus, stream) = (.opus, true, nil)
        // In this order, by which who keeps audio as it came hears once what that is now.
        publication.setFormat(.opus(isStereo: head.channelCount == 2), of: .audio)
        publication.setSourceAudioFormat(nil)
        return nil
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, isOpus: Bool, _ stamp: Duration, _ message: inout MediaMessage
    ) -> Refusal? {
        guard carriesOpus == isOpus else {
            message.counters.unconfigured += 1
            return nil
        }
        guard unsafe !frame.isEmpty, frame.count <= Self.maximumFrameByteCount else { return nil }
        let arrival = message.arrival
        let mediaTime = publication.timeline.place(stamp, of: .audio, arrival: arrival)
        if let refusal = inspector?.audioFrame(byteCount: frame.count, mediaTime: mediaTime, arrival: arrival) { return refusal }
        lastMediaTime = mediaTime
        message.counters.audioFrames += 1
        if isOpus {
            unsafe passOpus(frame, mediaTime, &message)
        } else {
            unsafe stream?.submit(frame, mediaTime: mediaTime.timestamp(for: .audio))
            unsafe publication.forwardSourceAudio(frame, at: mediaTime, arrival: arrival)
        }
        return nil
    }

    private func passOpus(_ packet: UnsafeRawBufferPointer, _ mediaTime: Duration, _ message: inout MediaMessage) {
        guard let samples = try? unsafe TOC.sampleCount(of: packet) else {
            message.counters.malformed += 1
            return
        }
        var start = mediaTime.timestamp(for: .audio)
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
            failure = inspector?.audioNotDecodable(mediaTime: lastMediaTime ?? .zero, arrival: now())
        }
    }
}
