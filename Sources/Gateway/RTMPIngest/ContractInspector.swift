public import AAC
public import MediaContract
public import Refusals
import StageHub
public import Wire

/// The media contract as a publish's inspector: feeds a monitor, and turns its news into refusals and warnings. Confined.
public final class ContractInspector: MediaInspector {
    /// Told of every rule that is broken and only warned about.
    public var onWarning: (ContractWarning) -> Void = { _ in }
    /// Told why the publish ends, before the refusal goes to the encoder.
    public var onDisconnect: (Refusal, [ContractFault]) -> Void = { _, _ in }

    private var monitor: ContractMonitor

    /// - Parameter product: flashVer: it decides the names of settings in sentences.
    public init(rules: ContractRules, product: String) {
        monitor = ContractMonitor(rules: rules, ingest: .rtmp, product: product)
    }

    /// Applies new limits at once.
    public func apply(_ rules: ContractRules) { monitor.apply(rules) }

    public func foundVideoCodec(_ name: String, mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.videoCodecAnnounced(name, at: moment(.video, mediaTime, arrival))
        return verdict()
    }

    public func foundAudioCodec(_ name: String, mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.audioCodecAnnounced(name, at: moment(.audio, mediaTime, arrival))
        return verdict()
    }

    public func videoConfigured(_ parameterSets: [[UInt8]], mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        let moment = moment(.video, mediaTime, arrival)
        for set in parameterSets { monitor.parameterSet(set.span.bytes, at: moment) }
        return verdict()
    }

    public func audioConfigured(_ configuration: AudioSpecificConfig, mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.audioConfiguration(configuration, at: moment(.audio, mediaTime, arrival))
        return verdict()
    }

    public func opusConfigured(channelCount: Int, mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.opusConfiguration(channelCount: channelCount, at: moment(.audio, mediaTime, arrival))
        return verdict()
    }

    public func accessUnit(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, mediaTime: Duration, arrival: MonotonicTime
    ) -> Refusal? {
        monitor.accessUnit(bytes, lengthSize: lengthSize, at: moment(.video, mediaTime, arrival))
        return verdict()
    }

    public func audioFrame(byteCount: Int, mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.audioFrame(byteCount: byteCount, at: moment(.audio, mediaTime, arrival))
        return verdict()
    }

    public func audioNotDecodable(mediaTime: Duration, arrival: MonotonicTime) -> Refusal? {
        monitor.hiddenReplicationFound(at: moment(.audio, mediaTime, arrival))
        return verdict()
    }

    public func timePassed(_ now: MonotonicTime) -> Refusal? {
        monitor.timePassed(to: now)
        return verdict()
    }

    private func moment(_ track: TrackID, _ mediaTime: Duration, _ arrival: MonotonicTime) -> MediaMoment {
        MediaMoment(mediaTime: mediaTime.timestamp(for: track), arrival: arrival)
    }

    private func verdict() -> Refusal? {
        guard monitor.hasNews else { return nil }
        var refusal: Refusal?
        for news in monitor.takeNews() {
            switch news {
            case .warning(let warning): onWarning(warning)
            case .disconnect(let reason, let faults):
                onDisconnect(reason, faults)
                refusal = reason
            }
        }
        return refusal
    }
}
