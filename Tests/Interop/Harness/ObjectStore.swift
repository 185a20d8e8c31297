import Foundation
import Testing

/// A store that speaks S3, another program on this machine, with one bucket. It ends with its object.
final class ObjectStore {
    enum Kind {
        /// Quick, and checks no signature; its front looks at every PUT and fails as told, one fault for each PUT.
        case moto(faults: [String] = [])
        /// Checks signatures as strictly as AWS, and keeps on disk what it has: it can go away and come back.
        case openstack
    }

    static let bucket = "shows"
    static let accessKey = "stagedoor:recorder"
    static let secretKey = "secret-of-s3"
    let endpoint: String

    private let line: [String]
    private var run: ProgramRun

    init(_ kind: Kind) throws {
        switch kind {
        case .moto(let faults):
            line = ["env", Interop.ControlAPI.path, "python3", Self.script("s3_store.py"), "serve", Self.bucket] + faults
        case .openstack:
            let folder = Workspace.temporaryFile(suffix: ".swift")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Its packages are Debian's, and so is the Python that has them.
            line = ["/usr/bin/python3", Self.script("openstack_swift.py"), folder.path]
        }
        run = try ProgramRun(line)
        endpoint = "http://127.0.0.1:\(try Self.port(of: run))"
        if case .openstack = kind { try ask("make") }
    }

    /// The bucket's entry of the configuration file's `storage`.
    /// - Parameter secret: another one than the store knows.
    func entry(_ bucket: String = ObjectStore.bucket, secret: String = ObjectStore.secretKey) -> String {
        "\(bucket): {endpoint: \"\(endpoint)\", pathStyle: true, accessKey: \"\(Self.accessKey)\", secretKey: \"\(secret)\"}"
    }

    /// Lines of the configuration file.
    var setting: String { "storage: {\(entry())}" }

    /// From now on nobody answers: connections are taken, as by a machine that hangs.
    func hang() { run.send(SIGSTOP) }

    /// From now on nobody listens.
    func leave() { run.kill() }

    /// Listens again, at the same port, with what was stored.
    func comeBack() throws {
        run = try ProgramRun(line)
        #expect("http://127.0.0.1:\(try Self.port(of: run))" == endpoint)
    }

    func removeBucket() throws { try ask("remove") }

    struct Object: Decodable {
        var size: Int
        var sha256: String
        var type: String
        var modified: Double
    }

    /// What boto3 reads in the bucket, copied into a folder.
    func objects() throws -> (folder: RecordingFolder, objects: [String: Object]) {
        let folder = RecordingFolder()
        let told = try ask("copy", folder.url.path)
        return (folder, try JSONDecoder().decode([String: Object].self, from: Data(told.utf8)))
    }

    @discardableResult
    private func ask(_ what: String, _ more: String...) throws -> String {
        let keys = ["AWS_ACCESS_KEY_ID=\(Self.accessKey)", "AWS_SECRET_ACCESS_KEY=\(Self.secretKey)"]
        let command = ["python3", Self.script("s3_store.py"), what, endpoint, Self.bucket] + more
        return try ProgramRun.output(of: ["env", Interop.ControlAPI.path] + keys + command, within: .seconds(120))
    }

    private static func port(of run: ProgramRun) throws -> Int {
        expect("the store serves\n\(run.output)", within: .seconds(60)) { !run.isRunning || run.output.contains("}\n") }
        let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("{") }, "\(run.output)")
        return try #require(try JSONDecoder().decode([String: Int].self, from: Data(line.utf8))["port"])
    }

    private static func script(_ name: String) -> String {
        Workspace.package.appending(path: "Tests/Interop/Clients/\(name)").path
    }
}
