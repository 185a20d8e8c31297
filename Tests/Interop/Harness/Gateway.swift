import Foundation
import Synchronization
import TestSupport
import Testing

/// The real program in quickstart mode, on free ports and a directory of its own. It ends with its object, and then its whole
/// output is searched for secrets.
final class Gateway {
    let quickstart: Quickstart
    let data: URL
    /// The configuration file, which a test may change and have read again.
    let settings: URL
    private let run: ProgramRun
    private let network: NetworkNamespace?
    private let address: String
    private var isStopped = false

    var pid: pid_t { run.pid }
    var log: String { run.output }

    /// Where its router listens: each participant takes two even ports.
    let routerPorts: ClosedRange<Int>

    /// - Parameters:
    ///   - configuration: more of the configuration file, in YAML.
    ///   - routers: entries of the configuration's `routers`, in place of the embedded one and one receiver on this machine.
    ///   - launcher: a command that becomes the program whose path follows.
    ///   - address: where it listens when it has no network of its own, in brackets when it is IPv6.
    ///   - rtmpPort: one of `FreePorts`, where another process is to listen after this one.
    ///   - isMediaTCP: whether ICE-TCP has the media port's number.
    ///   - network: where it runs with its clients, when that is not this machine's own network.
    init(
        configuration: String = "", routers: String? = nil, participants: Int = 5, data: URL? = nil, launcher: [String] = [],
        address: String = "127.0.0.1", rtmpPort: UInt16 = 0, isMediaTCP: Bool = true, in network: NetworkNamespace? = nil
    ) throws {
        (self.network, self.address) = (network, address)
        let firstPort = Self.freeRouterPorts(participants * 4)
        routerPorts = firstPort...(firstPort + participants * 4 - 1)
        let folder = data ?? Workspace.temporaryFile(suffix: ".data")
        settings = Workspace.temporaryFile(suffix: ".yaml")
        let receiver =
            "  embedded: {driver: embedded}\n  local: {driver: static, host: \"127.0.0.1\", ports: \"\(firstPort)-\(routerPorts.upperBound)\"}"
        try Self.configuration(
            routers: routers ?? receiver, address: network?.address ?? address, rtmpPort: rtmpPort, isMediaTCP: isMediaTCP,
            extra: configuration
        ).write(to: settings, atomically: true, encoding: .utf8)
        self.data = folder
        let file = folder.appending(path: "quickstart.json")
        try? FileManager.default.removeItem(at: file)
        let line = [
            try Workspace.program("stagedoor"), "serve", "--quickstart", "--config", settings.path, "--data", folder.path,
        ]
        run = try ProgramRun(network?.command(line) ?? launcher + line)
        let isReady = holds(within: .seconds(60)) { [run] in !run.isRunning || FileManager.default.fileExists(atPath: file.path) }
        guard isReady, run.isRunning else { throw Fault.notStarted(run.output) }
        quickstart = try JSONDecoder().decode(Quickstart.self, from: Data(contentsOf: file))
    }

    deinit { stop() }

    /// The session description of quickstart's participant, which any RTP receiver reads.
    ///
    /// Before the first publish the formats are not known; a receiver that has to be there first is told the ports alone.
    var sessionDescription: URL {
        get throws {
            let written = data.appending(path: "sdp/\(quickstart.participantId).sdp")
            if FileManager.default.fileExists(atPath: written.path) { return written }
            return try description(firstPort: routerPorts.lowerBound)
        }
    }

    /// Starts a receiver of the first WHIP publish before it begins, at the ports after those kept for the RTMP participant.
    func captureFirstWHIP() throws -> Capture { try Capture(description(firstPort: routerPorts.lowerBound + 4), in: network) }

    private func description(firstPort: Int) throws -> URL {
        let file = Workspace.temporaryFile(suffix: ".sdp")
        try """
        v=0
        o=- 1 1 IN IP4 127.0.0.1
        s=-
        c=IN IP4 127.0.0.1
        t=0 0
        m=video \(firstPort) RTP/AVP 96
        a=rtpmap:96 H264/90000
        a=fmtp:96 packetization-mode=1
        m=audio \(firstPort + 2) RTP/AVP 111
        a=rtpmap:111 opus/48000/2

        """.write(to: file, atomically: true, encoding: .utf8)
        return file
    }

    /// The port of its UDP sockets, but for those toward the routers, which are bound to no address.
    var mediaPort: UInt16 {
        get throws {
            let sockets = try ProgramRun.output(of: nearby(["ss", "-Hulnp"]), within: .seconds(60))
            let own = sockets.split(separator: "\n").filter { $0.contains("pid=\(pid),") }
            let address = (network?.address ?? self.address) + ":"
            let bound = own.flatMap { $0.split(whereSeparator: \.isWhitespace) }.first { $0.hasPrefix(address) }
            return try #require(bound.flatMap { UInt16($0.dropFirst(address.count)) }, "\(sockets)")
        }
    }

    var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    var isRunning: Bool { run.isRunning }

    /// The line that runs `arguments` where the gateway runs.
    func nearby(_ arguments: [String]) -> [String] { network?.command(arguments) ?? arguments }

    /// A document of the admin listener, such as `metrics`.
    func admin(_ path: String) throws -> String {
        let url = try #require(quickstart.adminURL)
        return try ProgramRun.output(of: nearby(["curl", "-sS", "--max-time", "50", "\(url)/\(path)"]), within: .seconds(60))
    }

    /// Writes a line of the configuration file in place of another, as an operator's editor would, and asks for a reload.
    func change(_ old: String, to new: String) throws {
        let text = try String(contentsOf: settings, encoding: .utf8)
        try #require(text.contains(old))
        try text.replacingOccurrences(of: old, with: new).write(to: settings, atomically: true, encoding: .utf8)
        run.send(SIGHUP)
    }

    /// Ends it as an operator would; records an issue when it does not end, or ends with a fault, or told a secret.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        guard !isStopped else { return }
        isStopped = true
        let metrics = (try? admin("metrics")) ?? ""
        run.send(SIGTERM)
        let status = run.status(within: .seconds(60))
        #expect(!withoutInvitation.isEmpty, "a log in JSON lines", sourceLocation: sourceLocation)
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

    /// Ends it as a power failure would: nothing is expected of it any more.
    func kill() {
        isStopped = true
        run.kill()
    }

    /// Port 0 everywhere, and router ports that no other run has: two gateways at a time do not meet. Full is what the test says,
    /// not what else the machine has to do.
    private static func configuration(
        routers: String, address: String, rtmpPort: UInt16, isMediaTCP: Bool, extra: String
    ) -> String {
        """
        http: {listen: "\(address):0"}
        https: {listen: "\(address):0"}
        rtmp: {listen: "\(address):\(rtmpPort)"}
        media: {listen: "\(address):0", tcp: \(isMediaTCP)}
        admin: {listen: "127.0.0.1:0"}
        routers:
        \(routers)
        \(extra.contains("overload:") ? "" : "overload: {cpu: 100, loopLag: 5s}")
        \(extra)
        """
    }

    /// The first of so many ports below those that the system gives to clients, where neither this run nor another one is.
    static func freeRouterPorts(_ count: Int) -> Int {
        while true {
            let first = firstRouterPort + nextRouterPort.wrappingAdd(count, ordering: .relaxed).oldValue % routerPortCount
            if FreePorts.areFree(UInt16(first)...UInt16(first + count - 1)) { return first }
        }
    }

    private static let firstRouterPort = 20_000
    private static let routerPortCount = 12_000
    /// Runs that begin at the same time begin at different places.
    private static let nextRouterPort = Atomic<Int>(Int(getpid()) % 40 * 300)

    enum Fault: Error { case notStarted(String) }
}

/// What `stagedoor serve --quickstart` writes once every listener accepts; a member whose feature does not exist is absent.
struct Quickstart: Decodable {
    var rtmpURL: String
    var rtmpsURL: String?
    var streamKey: String
    var participantId: String
    var adminURL: String?
    var consoleURL: String?
    var caCertificate: String?
    var whipURL: String?
    var whipToken: String?
    var whipParticipantId: String?
    var accessKeyId: String?
    var secretAccessKey: String?
    var region: String?
    var stageArn: String?
    var stageId: String?
    var watchURL: String?
    var obsConfigOverride: Override?

    /// As far as tests look into it.
    struct Override: Decodable {
        var meta: [String: String]
    }

    /// What must never be seen in a log, a metric or an error text.
    var secrets: [String] {
        [streamKey, whipToken, secretAccessKey, watchURL?.split(separator: "=").last.map(String.init)].compactMap { $0 }
    }
    var publishURL: String { "\(rtmpURL)/\(streamKey)" }
}
