import AAC
import FLV
import Opus
import Refusals
import StageHub
import Transcoding
import Wire

/// The audio of one RTMP publish: AAC goes through the transcoder and comes back as Opus, Opus passes. Confined.
final class AudioTrackFeed {
    /// Stamps are whole milliseconds, Opus frames need not be: a packet this near to the end of the last one begins there.
    static let continuityTolerance = Duration.milliseconds(10)
    static let transcodedPacketDuration = Duration.milliseconds(20)
    /// Raw AAC frames have at most 6,144 bits a channel.
    static let maximumFrameByteCount = 8_192

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
    private var stream: TranscodingStream?
    private var failure: Refusal?
    private var refusedCodec: AudioCodec?
    private var opusEnd: Duration?
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
        if message.isEmpty { return nil }
        guard let tag = try? AudioTag(parsing: message.bytes) else {
            counters.malformed += 1
            return nil
        }
        counters.otherTracks += tag.ignoredTrackCount
        let body = UnsafeRawBufferPointer(rebasing: message[tag.body])
        switch (tag.packet, tag.codec) {
        case (.sequenceStart, .aac): return configureAAC(body, arrival, &counters)
        case (.sequenceStart, .opus): return configureOpus(body, arrival, &counters)
        case (.codedFrames, .aac), (.codedFrames, .opus):
            let stamp = Duration.milliseconds(timestamp) + .nanoseconds(Int64(tag.nanosecondOffset))
            return forward(body, isOpus: tag.codec == .opus, stamp, arrival, &counters)
        case (.sequenceStart, _), (.codedFrames, _): return refuse(tag.codec, arrival, &counters)
        default: return nil
        }
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
        guard let config = try? AudioSpecificConfig(parsing: body.bytes) else {
            counters.malformed += 1
            return nil
        }
        guard configuration != .aac(config) else { return nil }
        let refusal = inspector?.audioConfigured(config, mediaTime: lastMediaTime ?? .zero, arrival: arrival)
        if let refusal { return refusal }
        configuration = .aac(config)
        stream = transcoder.open(config) { [weak self] in self?.received($0) }
        publication.setFormat(.opus(isStereo: config.channelCount == 2), of: .audio)
        return nil
    }

    private func configureOpus(
        _ body: UnsafeRawBufferPointer, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let head = try? OpusHead(parsing: body.bytes) else {
            counters.malformed += 1
            return nil
        }
        let refusal = inspector?.opusConfigured(
            channelCount: Int(head.channelCount), mediaTime: lastMediaTime ?? .zero, arrival: arrival)
        if let refusal { return refusal }
        (configuration, stream) = (.opus, nil)
        publication.setFormat(.opus(isStereo: head.channelCount == 2), of: .audio)
        return nil
    }

    private func forward(
        _ frame: UnsafeRawBufferPointer, isOpus: Bool, _ stamp: Duration, _ arrival: MonotonicTime,
        _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let configuration, (configuration == .opus) == isOpus else {
            counters.unconfigured += 1
            return nil
        }
        guard !frame.isEmpty, frame.count <= Self.maximumFrameByteCount else { return nil }
        let mediaTime = publication.timeline.place(stamp, of: .audio, arrival: arrival)
        if let refusal = inspector?.audioFrame(byteCount: frame.count, mediaTime: mediaTime, arrival: arrival) { return refusal }
        lastMediaTime = mediaTime
        counters.audioFrames += 1
        if isOpus {
            passOpus(frame, mediaTime, arrival, &counters)
        } else {
            stream?.submit(frame, mediaTime: mediaTime.timestamp(for: .audio))
        }
        return nil
    }

    private func passOpus(
        _ packet: UnsafeRawBufferPointer, _ mediaTime: Duration, _ arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) {
        guard let samples = try? TOC.sampleCount(of: packet) else {
            counters.malformed += 1
            return
        }
        var start = mediaTime
        if let end = opusEnd, abs((mediaTime - end).nanoseconds) <= Self.continuityTolerance.nanoseconds { start = end }
        let duration = AudioClock.duration(ofTicks: Int64(samples))
        opusEnd = start + duration
        writer.write(packet, at: start, duration: duration, arrival: arrival)
    }

    private func received(_ audio: TranscodedAudio) {
        switch audio {
        case .packet(let packet, let ticks):
            writer.write(packet, at: AudioClock.duration(ofTicks: ticks), duration: Self.transcodedPacketDuration, arrival: now())
        case .failed:
            let refusal = inspector?.audioNotDecodable(mediaTime: lastMediaTime ?? .zero, arrival: now())
            failure = refusal ?? Refusal(.internalError)
        }
    }
}

/// Ticks of RTP's audio clock as durations.
enum AudioClock {
    static let ticksPerSecond: Int64 = 48_000

    static func duration(ofTicks ticks: Int64) -> Duration {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: ticksPerSecond)
        return .nanoseconds(seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / ticksPerSecond)
    }
}
