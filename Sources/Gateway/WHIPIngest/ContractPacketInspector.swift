public import MediaContract
public import Refusals
public import StageHub
public import Wire

/// The media contract as a WHIP publish's inspector: feeds a monitor, and turns its news into refusals and warnings. Confined.
public final class ContractPacketInspector: PacketInspector {
    /// Told of every rule that is broken and only warned about.
    public var onWarning: (ContractWarning) -> Void = { _ in }
    /// Told why the publish ends, before the session is closed.
    public var onDisconnect: (Refusal, [ContractFault]) -> Void = { _, _ in }

    private var monitor: ContractMonitor

    /// - Parameter product: User-Agent: it decides the names of settings in sentences.
    public init(rules: ContractRules, product: String) {
        monitor = ContractMonitor(rules: rules, ingest: .whip, product: product)
    }

    /// Applies new limits at once.
    public func apply(_ rules: ContractRules) { monitor.apply(rules) }

    public func inspect(_ packet: MediaPacket, of track: TrackID, arrival: MonotonicTime) -> Refusal? {
        let moment = MediaMoment(mediaTime: packet.timestamp, arrival: arrival)
        switch track.kind {
        case .video: monitor.rtpPayload(packet.payload, sequenceNumber: packet.sequenceNumber, at: moment)
        case .audio: monitor.audioFrame(byteCount: packet.payload.count, at: moment)
        }
        return verdict()
    }

    public func timePassed(_ now: MonotonicTime) -> Refusal? {
        monitor.timePassed(to: now)
        return verdict()
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
