import Foundation
import Testing

/// A stage router on this machine: docs/examples/stage_router.py with what tests want to know (Clients/test_router.py).
final class StageRouter {
    let port: Int
    private let run: ProgramRun

    /// What it knows of one participant.
    struct Participant: Decodable {
        var generation: Int
        /// Of all its announces that were taken, in order; nil of a router that decodes.
        var generations: [Int]?
        /// Nil of a router that decodes.
        var stageArn: String?
        var saidBye: Bool
        /// By the announce or its latest change; nil of a router that decodes.
        var muted: [String]?
        var tracks: [Track]
        /// By the announce or its latest change, best first; nil of a router that decodes.
        var layers: [Layer]?
        /// Packets of no track that was announced.
        var foreign: Int
        var pictures: Int
        /// Packets whose timestamp is below that of one before them; nil of a router that decodes.
        var backwards: Int?
        /// Milliseconds between pictures, of those that are 100 or more apart.
        var gaps: [Int]?
        /// Milliseconds from the last picture of one of two encoders to the first of the other, each time (`Feed.isMarked`).
        var turns: [Int]?
        /// H.264 types of the first NAL units.
        var firstUnits: [Int]
    }

    struct Layer: Decodable, Equatable {
        var rid: String
        var active: Bool
        var width: Int
        var height: Int
        var bitrate: Int
    }

    struct Track: Decodable {
        var kind: String
        /// Of a layer.
        var rid: String?
        var packets: Int
        var first: Int?
        var highest: Int

        /// Nothing lost and nothing twice, however much was sent.
        var isWhole: Bool { packets > 0 && highest - (first ?? 0) + 1 == packets }
    }

    /// - Parameter port: 0 for any; one of `FreePorts` stays nobody's once the router is killed.
    init(port: Int = 0, _ options: [String] = []) throws {
        let script = Workspace.package.appending(path: "Tests/Interop/Clients/test_router.py").path
        let run = try ProgramRun(ProgramRun.elsewhere(["/usr/bin/python3", script, "--port", "\(port)"] + options))
        expect("the router listens\n\(run.output)", within: .seconds(60)) { run.output.contains("\n") }
        self.run = run
        self.port = try #require(Int(run.output.prefix { $0.isNumber }))
    }

    var output: String { run.output }

    /// As a power failure would.
    func kill() { run.kill() }

    func participants() throws -> [String: Participant] {
        let text = try ProgramRun.output(
            of: ["curl", "-sS", "--max-time", "50", "http://127.0.0.1:\(port)/"], within: .seconds(60))
        return try JSONDecoder().decode([String: Participant].self, from: Data(text.utf8))
    }

    /// Its entry in the configuration.
    ///
    /// - Parameter proxy: the port to ask it through.
    func settings(_ name: String, scheme: String = "http", proxy: Int? = nil, more: String = "") -> String {
        "  \(name): {driver: announce, url: \"\(scheme)://127.0.0.1:\(proxy ?? port)\"\(more.isEmpty ? "" : ", \(more)")}\n"
    }
}
