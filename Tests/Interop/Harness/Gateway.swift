import Foundation
import Testing

/// The real program in quickstart mode, on free ports and a directory of its own. It ends with its object, and then its whole
/// output is searched for secrets.
final class Gateway {
    let quickstart: Quickstart
    let data: URL
    private let run: ProgramRun
    private var isStopped = false

    var pid: pid_t { run.pid }
    var log: String { run.output }

    init(environment: [String: String] = [:], data: URL? = nil) throws {
        let folder = data ?? Workspace.temporaryFile(suffix: ".data")
        self.data = folder
        let file = folder.appending(path: "quickstart.json")
        try? FileManager.default.removeItem(at: file)
        run = try ProgramRun(
            [try Workspace.program("stagedoor"), "serve", "--quickstart", "--data", folder.path],
            environment: Self.freePorts.merging(environment) { $1 })
        let isReady = holds(within: .seconds(20)) { [run] in !run.isRunning || FileManager.default.fileExists(atPath: file.path) }
        guard isReady, run.isRunning else { throw Fault.notStarted(run.output) }
        quickstart = try JSONDecoder().decode(Quickstart.self, from: Data(contentsOf: file))
    }

    deinit { stop() }

    /// The session description of quickstart's participant, which any RTP receiver reads.
    var sessionDescription: URL { data.appending(path: "sdp/\(quickstart.participantId).sdp") }

    var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    var isRunning: Bool { run.isRunning }

    /// A document of the admin listener, such as `metrics`.
    func admin(_ path: String) throws -> String {
        let url = try #require(quickstart.adminURL)
        return try ProgramRun.output(of: ["curl", "-sS", "--max-time", "5", "\(url)/\(path)"], within: .seconds(10))
    }

    /// Ends it as an operator would; records an issue when it does not end, or ends with a fault, or told a secret.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        guard !isStopped else { return }
        isStopped = true
        let metrics = (try? admin("metrics")) ?? ""
        run.send(SIGTERM)
        let status = run.status(within: .seconds(15))
        #expect(status == 0, "\(run.output.suffix(2_000))", sourceLocation: sourceLocation)
        for secret in quickstart.secrets {
            #expect(!withoutInvitation.contains(secret), "the log holds a secret", sourceLocation: sourceLocation)
            #expect(!metrics.contains(secret), "the metrics hold a secret", sourceLocation: sourceLocation)
        }
    }

    /// The log without what quickstart prints on purpose: lines to copy, for the one who started it.
    private var withoutInvitation: String {
        log.split(separator: "\n").filter { $0.hasPrefix("{") }.joined(separator: "\n")
    }

    /// Port 0 everywhere: two runs at a time do not meet.
    private static let freePorts: [String: String] = [
        "STAGEDOOR_RTMP_LISTEN": "127.0.0.1:0",
        "STAGEDOOR_HTTP_LISTEN": "127.0.0.1:0",
        "STAGEDOOR_HTTPS_LISTEN": "127.0.0.1:0",
        "STAGEDOOR_MEDIA_LISTEN": "127.0.0.1:0",
        "STAGEDOOR_ADMIN_LISTEN": "127.0.0.1:0",
    ]

    enum Fault: Error { case notStarted(String) }
}
