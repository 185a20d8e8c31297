import Admission
import DataDirectory
import Foundation
import Handover
import RouterForwarding
import Settings
import Store
import Wire

/// The `static` routers of the configuration, and the thread that writes their descriptions to `DIR/sdp`.
enum StaticRouters {
    static func make(_ configuration: StagedoorConfiguration, directory: borrowing DataDirectory) throws -> [StaticRouter] {
        let settings = configuration.routers.sorted { $0.key < $1.key }.filter { $0.value.driver == .static }
        guard !settings.isEmpty else { return [] }
        try directory.makeFolder("sdp")
        let writer = try DescriptionWriter(directory: directory.path + "/sdp")
        return try settings.map { name, router in
            guard let configuration = StaticRouter.Configuration(name, router) else {
                throw StartupError.router("routers.\(name).host: “\(router.host)” is no IP address")
            }
            return StaticRouter(configuration, publish: writer.write, forget: writer.forget)
        }
    }

    /// Nobody publishes. A token's participant has left its description behind, two files each, with ports that are others' now;
    /// those of ingest configurations are written anew at once.
    ///
    /// The folder stays: receivers may watch it, or have it mounted. One that is a link is refused later, and not followed here.
    static func forgetDescriptions(in directory: String) {
        let (files, folder) = (FileManager.default, directory + "/sdp")
        let type = (try? files.attributesOfItem(atPath: folder))?[.type] as? FileAttributeType
        guard type == .typeDirectory, let names = try? files.contentsOfDirectory(atPath: folder) else { return }
        for name in names { try? files.removeItem(atPath: "\(folder)/\(name)") }
    }
}

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
