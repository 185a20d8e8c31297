import Admission
import Handover
import RouterForwarding
import Store
import Wire

/// Gives every ingest configuration its ports and its description before any media comes: quickstart's is the first.
final class StaticReservations {
    private let routers: [StaticRouter]
    /// Whose description each has, by the configuration's ARN; nil where a process before us wrote it, perhaps of live media.
    private(set) var reserved: [String: ParticipantKey?] = [:]

    init(_ routers: [StaticRouter]) { self.routers = routers }

    /// Goes on with what a process before us assigned; its descriptions are there, and may be of live media.
    func adopt(_ reservations: [PortReservation]) {
        for reservation in reservations {
            for router in routers where router.configuration.name == reservation.router {
                router.adopt(reservation.port, of: reservation.owner)
            }
            if reservation.owner.hasPrefix("arn:") { reserved[reservation.owner] = .some(nil) }
        }
    }

    /// Follows what was created, moved and deleted since the last time. Asked after each answer of the API, whose waiting it is.
    func follow(_ state: StoreState) {
        guard !routers.isEmpty else { return }
        let configurations = state.ingestConfigurations.values.sorted { ($0.createdAt, $0.arn) < ($1.createdAt, $1.arn) }
        for configuration in configurations {
            let participant = participant(of: configuration)
            let former = reserved.updateValue(participant, forKey: configuration.arn)
            guard former != .some(nil), former != participant else { continue }
            forget(former ?? nil)
            // Its key is unusable until it belongs to a stage.
            guard !configuration.stageARN.isEmpty else { continue }
            for router in routers { router.reserve(for: configuration.arn, participant) }
        }
        for (arn, participant) in reserved where state.ingestConfigurations[arn] == nil {
            forget(participant)
            for router in routers { router.release(arn) }
            reserved[arn] = nil
        }
    }

    private func forget(_ participant: ParticipantKey?) {
        guard let participant, !participant.stageID.isEmpty else { return }
        for router in routers { router.forget(participant) }
    }

    private func participant(of configuration: IngestConfiguration) -> ParticipantKey {
        ParticipantKey(configuration.participantID, onStage: ResourceName.identifier(inARN: configuration.stageARN))
    }
}
