import Foundation
import Testing

/// A compose file's services, up on this machine with the ports that the file says. They go with their object, volumes too.
///
/// It works on a copy of `docker` and `conf`, so that nothing of the tree is written to.
final class ComposePlatform {
    let accessKeyId = "AKIAEXAMPLEEXAMPLE"
    let secretAccessKey = "a-secret-of-forty-characters-or-thereabouts"
    let janusSecret = "another-secret-for-janus"
    /// Where encoders reach this machine: its own end of the platform's network.
    let publicAddress: String
    private let project = "stagedoor-test-\(UUID().uuidString.prefix(8).lowercased())"
    private let folder = Workspace.temporaryFile(suffix: ".compose")
    private let file: String

    /// - Parameter services: those that are started; Grafana's image can be had from a registry alone.
    init(_ file: String, publicAddress: String, services: [String]) throws {
        (self.file, self.publicAddress) = (file, publicAddress)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["docker", "conf"] {
            try FileManager.default.copyItem(at: Workspace.package.appending(path: name), to: folder.appending(path: name))
        }
        let script = Workspace.package.appending(path: "docker/compose/make-images").path
        // What the script prints is for the environment; what its engine says goes the same way here.
        let images = try ProgramRun.output(of: [script], within: .seconds(600)).split(separator: "\n").filter {
            $0.contains("_IMAGE=")
        }
        let key = folder.appending(path: "docker/platform.key")
        try Data((0..<32).map { _ in UInt8.random(in: 0...255) }).write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: key.path)
        try """
        PUBLIC_ADDRESS=\(publicAddress)
        ACCESS_KEY_ID=\(accessKeyId)
        SECRET_ACCESS_KEY=\(secretAccessKey)
        JANUS_SECRET=\(janusSecret)
        TURN_SECRET=one-more-secret-for-turn
        VALKEY_PASSWORD=the-secret-of-valkey
        GRAFANA_PASSWORD=the-secret-of-grafana
        \(images.joined(separator: "\n"))

        """.write(to: folder.appending(path: "docker/.env"), atomically: true, encoding: .utf8)
        try compose(["up", "--detach", "--no-build"] + services, within: .seconds(120))
    }

    deinit {
        _ = try? compose(["down", "--volumes", "--timeout", "1"], within: .seconds(120))
        try? FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    func compose(_ words: [String], within limit: Duration = .seconds(60)) throws -> String {
        try Container.engine(
            ["compose", "--project-name", project, "--file", folder.appending(path: "docker/\(file)").path] + words, within: limit
        )
    }

    /// The engine's name of a service's container.
    func container(_ service: String) throws -> String {
        let label = "label=com.docker.compose.service=\(service)"
        let names = try Container.engine(
            [
                "ps", "--all", "--filter", label, "--filter", "label=com.docker.compose.project=\(project)", "--format",
                "{{.Names}}",
            ],
            within: .seconds(60))
        return try #require(names.split(separator: "\n").first.map(String.init), "\(service)")
    }

    func log(_ service: String) -> String {
        (try? Container.engine(["logs", container(service)], within: .seconds(60))) ?? ""
    }

    /// Waits for a gateway's control API at `admin`, and makes publishers through it.
    func makePublishers(_ names: [String], at admin: String) throws -> [Publisher] {
        let ready = ["curl", "-sSf", "--max-time", "2", "\(admin)/readyz"]
        expect("\(admin) is ready", within: .seconds(60)) { (try? ProgramRun.output(of: ready, within: .seconds(60))) != nil }
        let line = [Interop.WHIP.python, Interop.WHIP.script("publishers.py"), admin, accessKeyId, secretAccessKey, "us-east-1"]
        return try ProgramRun.output(of: line + names, within: .seconds(60)).split(separator: "\n")
            .map { try JSONDecoder().decode(Publisher.self, from: Data($0.utf8)) }
    }

}
