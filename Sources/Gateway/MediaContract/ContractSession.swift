public import AAC
public import H264
public import Refusals
import Settings
public import Wire

/// The contract's eye on one live publish: a monitor that takes up new rules, and the memory of what it refused.
///
/// Confined to the publish's worker. Every call answers the refusal that ends the publish, once; nil lets it go on. Bytes are
/// read before the call returns. Media time is any that moves with the stream.
public final class ContractSession {
    /// What ended the publish.
    public private(set) var faults: [ContractFault] = []
    /// What the publication calls its layers, by place; without a name a layer goes by its size.
    public var layerNames: [UInt8: String] = [:] { didSet { monitor.name(layers: layerNames) } }
    /// For other threads to look at.
    public let standing = ContractStanding()

    /// A publish by RTMP must bring video and audio: a missing track ends it.
    public var needsBothTracks: Bool { monitor.rules.tracks.action == .disconnect }

    private let context: ContractContext
    private let publisher: ContractPublisher
    private let onWarning: (ContractWarning) -> Void
    private var monitor: ContractMonitor
    private var rulesGeneration: Int
    private var notedAt = MonotonicTime.zero
    /// A second, but for the lateness of timers.
    private static let noteInterval = Duration.milliseconds(900)

    /// - Parameter onWarning: called for each warning, at most one a minute and rule: for the session's story, metrics, event.
    public init(
        context: ContractContext, ingest: ContractMonitor.Ingest, publisher: ContractPublisher,
        onWarning: @escaping (ContractWarning) -> Void = { _ in }
    ) {
        (self.context, self.publisher, self.onWarning) = (context, publisher, onWarning)
        rulesGeneration = context.rulesGeneration
        monitor = ContractMonitor(
            rules: context.rules(forStageTags: publisher.stageTags), ingest: ingest, product: publisher.product)
    }

    // MARK: RTMP

    public func foundVideoCodec(_ name: String, arrival: MonotonicTime) -> Refusal? {
        monitor.videoCodecAnnounced(name, at: arrival)
        return news(at: arrival)
    }

    public func foundAudioCodec(_ name: String, arrival: MonotonicTime) -> Refusal? {
        monitor.audioCodecAnnounced(name, at: arrival)
        return news(at: arrival)
    }

    /// The parameter sets of a sequence header, judged when a picture uses them.
    public func videoConfigured(_ parameterSets: [[UInt8]], layer: UInt8 = 0, arrival: MonotonicTime) -> Refusal? {
        for set in parameterSets { unsafe monitor.parameterSet(set.span.bytes, layer: layer, at: arrival) }
        return news(at: arrival)
    }

    public func audioConfigured(_ configuration: AudioSpecificConfig, arrival: MonotonicTime) -> Refusal? {
        monitor.audioConfiguration(configuration, at: arrival)
        return news(at: arrival)
    }

    public func opusConfigured(channelCount: Int, arrival: MonotonicTime) -> Refusal? {
        monitor.opusConfiguration(channelCount: channelCount, at: arrival)
        return news(at: arrival)
    }

    /// One access unit: what the walk over it found.
    /// - Parameter timestamp: unwrapped, 90 kHz.
    public func accessUnit(_ found: NALUnitList, layer: UInt8 = 0, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        let moment = MediaMoment(mediaTime: timestamp, arrival: arrival)
        return look(at: arrival) { $0.accessUnit(found, layer: layer, at: moment) }
    }

    /// The transcoder cannot make Opus of what claims to be AAC-LC.
    public func audioNotDecodable(arrival: MonotonicTime) -> Refusal? {
        monitor.hiddenReplicationFound(at: arrival)
        return news(at: arrival)
    }

    // MARK: WHIP

    /// One video payload, after SRTP; duplicates, RTX and padding left out: what the walk over it found.
    /// - Parameters:
    ///   - sequenceNumber: extended, of this layer.
    ///   - timestamp: unwrapped, 90 kHz.
    @inline(__always)
    public func videoPayload(
        _ found: NALUnitList, layer: UInt8 = 0, sequenceNumber: Int64, timestamp: Int64, arrival: MonotonicTime
    ) -> Refusal? {
        let moment = MediaMoment(mediaTime: timestamp, arrival: arrival)
        return look(at: arrival) { $0.rtpPayload(found, layer: layer, sequenceNumber: sequenceNumber, at: moment) }
    }

    /// The encoder does not send keyframes when asked.
    public func keyframesCannotBeRequested() { monitor.keyframesCannotBeRequested() }

    // MARK: Both

    /// One frame of AAC, or packet of Opus.
    /// - Parameter timestamp: unwrapped, 48 kHz.
    public func audioFrame(byteCount: Int, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        look(at: arrival) { $0.audioFrame(byteCount: byteCount, at: MediaMoment(mediaTime: timestamp, arrival: arrival)) }
    }

    // MARK: Time

    /// Video comes of which nothing can be read: without a sequence header, or malformed.
    public func unreadableVideo(arrival: MonotonicTime) { monitor.unreadableVideoCame(at: arrival) }

    /// The same of audio.
    public func unreadableAudio(arrival: MonotonicTime) { monitor.unreadableAudioCame(at: arrival) }

    /// To be called once a second or more often: missing tracks, the longest duration, new rules.
    public func timePassed(_ now: MonotonicTime) -> Refusal? {
        if rulesGeneration != context.rulesGeneration {
            rulesGeneration = context.rulesGeneration
            monitor.apply(context.rules(forStageTags: publisher.stageTags))
        }
        monitor.timePassed(to: now)
        if now - notedAt >= Self.noteInterval {
            notedAt = now
            standing.note(monitor.sightings)
        }
        return news(at: now)
    }

    /// The publish is over: what was seen of it stands.
    public func ended() { standing.note(monitor.sightings) }

    /// Shows the monitor something, and asks for its news within the same access to it.
    @inline(__always)
    private func look(at now: MonotonicTime, _ show: (inout ContractMonitor) -> Void) -> Refusal? {
        func hasNews(after show: (inout ContractMonitor) -> Void, _ monitor: inout ContractMonitor) -> Bool {
            show(&monitor)
            return monitor.hasNews
        }
        return hasNews(after: show, &monitor) ? news(at: now) : nil
    }

    private func news(at now: MonotonicTime) -> Refusal? {
        guard monitor.hasNews else { return nil }
        for item in monitor.takeNews() {
            switch item {
            case .warning(let warning):
                context.warned(publisher, of: warning, at: now)
                onWarning(warning)
            case .disconnect(let refusal, let faults):
                self.faults = faults
                // A new stream after the longest duration is what is wanted, not a mistake to be told again.
                if refusal.code != .durationExceeded { context.violated(publisher, refusal, at: now) }
                return refusal
            }
        }
        return nil
    }
}
