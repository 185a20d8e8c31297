import DataDirectory
import Foundation
import RouterForwarding
import Settings

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
