import Foundation
import TestSupport
import Testing

/// Debian's Janus with its Streaming plugin, on ports of its own.
final class JanusServer {
    let url: String
    /// What it wrote.
    var output: String { run.output }
    private let run: ProgramRun

    init() throws {
        let folder = Workspace.temporaryFile(suffix: ".janus")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (port, ports) = (FreePorts.tcp(), FreePorts.inARow(100))
        url = "http://127.0.0.1:\(port)/janus"
        let library = "/usr/lib/\(Self.machine)-linux-gnu/janus"
        let folders = ["plugins", "transports", "events", "loggers"].map { "\($0)_folder = \"\(library)/\($0)\"" }
        let files = [
            // The voicemail plugin makes html/recordings in the working directory, which is the tests'. Cables that tests beside
            // this one take away are no addresses of its own.
            "janus.jcfg": """
            general: { \(folders.joined(separator: "; ")); debug_level = 3 }
            plugins: { disable = "libjanus_voicemail.so" }
            nat: { ice_ignore_list = "10.77.,198.51.100." }
            """,
            "janus.transport.http.jcfg":
                "general: { http = true; port = \(port); ip = \"127.0.0.1\"; https = false }\nadmin: { admin_http = false }",
            "janus.plugin.streaming.jcfg": "general: { rtp_port_range = \"\(ports.lowerBound)-\(ports.upperBound)\" }",
        ]
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        run = try ProgramRun(["/usr/bin/janus", "-F", folder.path])
        expect("Janus answers\n\(run.output.suffix(1_000))", within: .seconds(60)) {
            (try? ProgramRun.output(of: ["curl", "-sSf", "--max-time", "2", "\(url)/info"], within: .seconds(60))) != nil
        }
    }

    private static var machine: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }

    /// The ids of the mountpoints that it has.
    func mountpoints() throws -> [Int] {
        let session = try ask("", #"{"janus":"create","transaction":"t"}"#).firstMatch(of: /"id": (\d+)/)
        let path = "/\(try #require(session).output.1)"
        let handle = try ask(path, #"{"janus":"attach","plugin":"janus.plugin.streaming","transaction":"t"}"#)
            .firstMatch(of: /"data": \{\s*"id": (\d+)/)
        let list = try ask(
            "\(path)/\(try #require(handle).output.1)", #"{"janus":"message","transaction":"t","body":{"request":"list"}}"#)
        return list.matches(of: /"id": (\d+),\s*"type"/).compactMap { Int($0.output.1) }
    }

    private func ask(_ path: String, _ body: String) throws -> String {
        try ProgramRun.output(of: ["curl", "-sS", "--max-time", "50", "--data", body, url + path], within: .seconds(60))
    }
}
