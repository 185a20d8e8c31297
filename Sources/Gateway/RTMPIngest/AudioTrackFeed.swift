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
    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    func receive(
        _ message: UnsafeRawBufferPointer, timestamp: Int64, arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        if let failure { return failure }
        var part = unsafe first(of: message, &counters)
        if part == nil { publication.counters[.audio].count(byteCount: message.count, endsFrame: false) }
        var start = 0
        while let tag = part {
            part = unsafe next(after: tag, in: message, &counters)
            let end = part == nil ? message.count : tag.body.upperBound
            defer { start = end }
            if !mainTrack.isKnown, let refusal = lookForMain(tag, arrival, &counters) { return refusal }
            guard tag.trackID == mainTrack.id else {
                unsafe passOver(tag, of: message, &counters)
                continue
            }
            let frames = counters.audioFrames
            let refusal = unsafe take(tag, of: message, timestamp, arrival, &counters)
            publication.counters[.audio].count(byteCount: end - start, endsFrame: counters.audioFrames > frames)
            if let refusal { return refusal }
        }
        return nil
    }

    private func first(of message: UnsafeRawBufferPointer, _ counters: inout PipelineCounters) -> AudioTag? {
        if unsafe message.isEmpty { return nil }
        let tag = try? unsafe AudioTag(parsing: message.bytes)
        if tag == nil { counters.malformed += 1 }
        return tag
    }

    private func next(
        after tag: AudioTag, in message: UnsafeRawBufferPointer, _ counters: inout PipelineCounters
    ) -> AudioTag? {
        do { return try unsafe tag.next(in: message.bytes) } catch {
            counters.malformed += 1
            return nil
        }
    }

    private func take(
        _ tag: AudioTag, of message: UnsafeRawBufferPointer, _ timestamp: Int64, _ arrival: MonotonicTime,
        _ counters: inout PipelineCounters
    ) -> Refusal? {
        let body = unsafe UnsafeRawBufferPointer(rebasing: message[tag.body])
        switch (tag.packet, tag.codec) {
        case (.sequenceStart, .aac): return unsafe configureAAC(body, arrival, &counters)
        case (.sequenceStart, .opus): return unsafe configureOpus(body, arrival, &counters)
        case (.codedFrames, .aac), (.codedFrames, .opus):
            let stamp = Duration.milliseconds(timestamp) + .nanoseconds(Int64(tag.nanosecondOffset))
            return unsafe forward(body, isOpus: tag.codec == .opus, stamp, arrival, &counters)
        case (.sequenceStart, _), (.codedFrames, _): return refuse(tag.codec, arrival, &counters)
        default: return nil
        }
    }

    /// Where nothing has come of track 0, another one is the publish's, with the sequence header that it has sent.
    private func lookForMain(
        _ tag: AudioTag, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard tag.packet == .sequenceStart || tag.packet == .codedFrames, mainTrack.came(tag.trackID, at: arrival)
        else { return nil }
        passedOver.removeAll { $0.id == mainTrack.id }
        let header = headers[mainTrack.id]
        headers = [:]
        guard let header else { return nil }
        return unsafe header.body.withUnsafeBytes { bytes -> Refusal? in
            switch header.codec {
            case .aac: return unsafe configureAAC(bytes, arrival, &counters)
            case .opus: return unsafe configureOpus(bytes, arrival, &counters)
            default: return refuse(header.codec, arrival, &counters)
            }
        }
    }

    private func passOver(_ tag: AudioTag, of message: UnsafeRawBufferPointer, _ counters: inout PipelineCounters) {
        if !mainTrack.isKnown, tag.packet == .sequenceStart, tag.body.count <= Self.maximumHeaderByteCount,
            headers[tag.trackID] != nil || headers.count < TrackPlaces.maximumTrackCount
        {
            headers[tag.trackID] = unsafe (codec: tag.codec, body: Array(message[tag.body]))
        }
        counters.otherTracks += 1
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

    private func refuse(_ codec: AudioCodec, _ arrival: MonotonicTime, _ counters: inout PipelineCounters) -> Refusal? {
        counters.unsupported += 1
        guard refusedCodec != codec else { return nil }
        refusedCodec = codec
        return inspector?.foundAudioCodec(codec.name, mediaTime: lastMediaTime ?? .zero, arrival: arrival)
    }

    private func configureAAC(
        _ body: UnsafeRawBufferPointer, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let config = try? unsafe AudioSpecificConfig(parsing: body.bytes) else {
            counters.malformed += 1
            return nil
        }
        guard configuration != .aac(config) else { return nil }
        let refusal = inspector?.audioConfigured(config, mediaTime: lastMediaTime ?? .zero, arrival: arrival)
        if let refusal { return refusal }
        (configuration, carriesOpus) = (.aac(config), false)
        // What a relaxed contract lets pass beside AAC-LC is recorded, not transcoded.
        stream =
            config.isLowComplexity ? transcoder.open(config, allowance: allowance) { [weak self] in self?.received($0) } : nil
        publication.setSourceAudioFormat(.aac(configuration: config.bytes))
        publication.setFormat(.opus(isStereo: config.isStereoInOpus), of: .audio)
        return nil
    }

    private func configureOpus(
        _ body: UnsafeRawBufferPointer, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let head = try? unsafe OpusHead(parsing: body.bytes) else {
            counters.malformed += 1
            return nil
        }
        let refusal = inspector?.opusConfigured(
            channelCount: Int(head.channelCount), mediaTime: lastMediaTime ?? .zero, arrival: arrival)
        if let refusal { return refusal }
        (configuration, carriesOpus, stream) = (.opus, true, nil)
        // In this order, by which who keeps audio as it came hears once what that is now.
        publication.setFormat(.opus(isStereo: head.channelCount == 2), of: .audio)
        publication.setSourceAudioFormat(nil)
        return nil
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, isOpus: Bool, _ stamp: Duration, _ arrival: MonotonicTime,
        _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard carriesOpus == isOpus else {
            counters.unconfigured += 1
            return nil
        }
        guard unsafe !frame.isEmpty, frame.count <= Self.maximumFrameByteCount else { return nil }
        let mediaTime = publication.timeline.place(stamp, of: .audio, arrival: arrival)
        if let refusal = inspector?.audioFrame(byteCount: frame.count, mediaTime: mediaTime, arrival: arrival) { return refusal }
        lastMediaTime = mediaTime
        counters.audioFrames += 1
        if isOpus {
            unsafe passOpus(frame, mediaTime, arrival, &counters)
        } else {
            unsafe stream?.submit(frame, mediaTime: mediaTime.timestamp(for: .audio))
            unsafe publication.forwardSourceAudio(frame, at: mediaTime, arrival: arrival)
        }
        return nil
    }

    private func passOpus(
        _ packet: UnsafeRawBufferPointer, _ mediaTime: Duration, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) {
        guard let samples = try? unsafe TOC.sampleCount(of: packet) else {
            counters.malformed += 1
            return
        }
        var start = mediaTime.timestamp(for: .audio)
        // Stamps are whole milliseconds, Opus frames need not be: one this near to the end of the last begins there.
        if let end = opusEnd, (start &- end).magnitude <= AudioFrameWriter.continuityTolerance { start = end }
        opusEnd = start &+ Int64(samples)
        unsafe writer.write(packet, at: start, tickCount: Int64(samples), arrival: arrival)
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
