import Admission
import GatewayLogging
import Monitoring
import Wire

/// What operators are told of a joined participant: how it is, each of its switches, and where its encoders differ. Confined.
final class JoinedRecord {
    private let desk: RedundancyDesk
    /// The index of the one that joins it.
    private let worker: Int
    private var status: RedundancyStatus
    private var toldDifference: String?

    /// - Parameter grant: the participant's.
    init(_ key: ParticipantKey, _ grant: PublishGrant, _ desk: RedundancyDesk, worker: Int) {
        (self.desk, self.worker) = (desk, worker)
        status = RedundancyStatus(
            participant: key, stageARN: grant.stageARN, configurationARN: grant.ingestConfigurationARN ?? "", isLive: false,
            switchCount: 0, encoders: [])
    }

    var lastSwitch: SourceSwitch? { status.lastSwitch }

    /// Another source has begun, and has brought all that was kept of it.
    /// - Parameter lease: the participant's, while it is held.
    func note(_ switched: SourceSwitch, _ reason: SourceChoice.Reason, of lease: PublishLease?) {
        status.lastSwitch = switched
        // Who was lost and comes back itself goes on, with a gap to be told of.
        if reason != .begin, switched.from != switched.to {
            status.switchCount += 1
            desk.metrics.switched(reason)
        }
        if let lease { desk.board?.note(lease, switched) }
        Log.event(
            .info, "redundant_source",
            [
                "participant": .string(status.participant.participantID), "encoder": .integer(switched.to),
                "reason": .string(switched.reason), "from": .integer(switched.from ?? 0),
                "gap_ms": .integer(Int(switched.gap?.milliseconds ?? 0)),
            ])
    }

    /// - Parameters:
    ///   - sources: the encoders that are there.
    ///   - current: the number of the one whose media the stage gets.
    func tell(_ sources: [EncoderSource], current: Int?, isLive: Bool, at now: MonotonicTime) {
        let encoders = sources.map { source in
            RedundancyStatus.Encoder(
                number: source.encoder, participantID: source.feed.grant.participantID,
                health: source.observed.health.level(at: now), isReady: source.canBegin,
                clock: source.observed.clock.told?.kind)
        }
        status.source = current
        status.isLive = isLive
        status.encoders = encoders.sorted { $0.number < $1.number }
        desk.tell(status, of: worker)
    }

    /// Encoders should be set alike: what differs changes with every switch. Told once, until it is another difference.
    func compare(_ one: SourceObservation, _ two: SourceObservation, of lease: PublishLease, at now: MonotonicTime) {
        guard one.health.level(at: now) == .well, two.health.level(at: now) == .well,
            let picture = one.picture, let other = two.picture
        else { return }
        let sentence = picture.difference(from: other)
        if let sentence, sentence != toldDifference { desk.board?.note(lease, warnedBy: "redundant", sentence) }
        toldDifference = sentence
    }
}
