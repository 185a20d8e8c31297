import ArgumentParser
import DTLS
import EventLoop
import Foundation
import Wire

/// `stagedoor-bench whep`: many viewers of one participant, each for a while, so many at a time.
struct WatchWHEP: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whep", abstract: "Watches one participant over many WHEP connections, one after the other and side by side."
    )

    @Argument(help: "The participant's WHEP endpoint, such as http://127.0.0.1:8080/whep/STAGE/PARTICIPANT.")
    var url: String
    @OptionGroup var credentials: WHIPCredentials
    @Option(help: "Viewers; by default one for each token.")
    var viewers: Int?
    @Option(help: "How long each watches from its first packet on, in seconds.")
    var seconds = 1.0
    @Option(help: "Viewers at a time.")
    var concurrency = 1
    @Option(help: "PEM file of the authority that signed the endpoint's certificate.")
    var ca: String?
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?

    struct Report: Encodable {
        /// Who connected, watched and left without a fault.
        var viewers = 0
        /// What went wrong, and how often.
        var failures: [String: Int] = [:]
        /// Who connected and got nothing, for half a minute and longer.
        var silent = 0
        var seconds = 0.0
        var packets = 0
        /// Numbers that never came, up to the last one that did.
        var lost = 0
        /// From POST to 201.
        var answerMilliseconds = Percentiles.Summary()
        /// From POST to the end of the DTLS handshake.
        var connectMilliseconds = Percentiles.Summary()
        /// From POST to the first packet.
        var firstPacketMilliseconds = Percentiles.Summary()
        var process: ProcessUse?
    }

    func run() throws {
        guard let endpoint = URL(string: url) else { throw ValidationError("“\(url)” is no URL") }
        let loop = try EventLoop()
        let tokens = try credentials.tokens(streams: viewers, loop: loop)
        let context = try DTLSContext(DTLSCertificate.make(), srtpProfiles: DTLSContext.srtpProfiles)
        let client = WHIPEndpointClient(loop: loop, endpoint: endpoint, certificateAuthority: ca)
        let viewers = tokens.map { WHEPViewer(loop: loop, endpoint: client, token: $0, context: context) }
        let (start, before) = (EventLoop.monotonicNow(), pid.flatMap(ProcessFigures.init))
        var report = Report(failures: watch(viewers, on: loop))
        report.seconds = (EventLoop.monotonicNow() - start).inSeconds
        report.process = ProcessUse(before: before, pid: pid, seconds: report.seconds, streams: nil)
        report.add(viewers)
        try print(report: report)
        if !report.failures.isEmpty || report.silent > 0 { throw ExitCode(1) }
    }

    /// Lets `concurrency` watch at a time, and returns what went wrong.
    private func watch(_ viewers: [WHEPViewer], on loop: EventLoop) -> [String: Int] {
        var (waiting, finished, failures) = (viewers[...], 0, [String: Int]())
        func next() {
            guard let viewer = waiting.popFirst() else { return }
            viewer.watch(for: .seconds(seconds), within: Self.setUpLimit) { fault in
                if let fault { failures[fault, default: 0] += 1 }
                finished += 1
                if finished == viewers.count { loop.stop() } else { next() }
            }
        }
        for _ in 0..<max(1, concurrency) { next() }
        let interrupts = [SIGINT, SIGTERM].map { loop.watchSignal($0) { loop.stop() } }
        if !viewers.isEmpty { loop.run() }
        withExtendedLifetime(interrupts) {}
        return failures
    }

    private static let setUpLimit = Duration.seconds(30)
}

extension WatchWHEP.Report {
    fileprivate mutating func add(_ all: [WHEPViewer]) {
        var (answers, connections, first) = (Percentiles(), Percentiles(), Percentiles())
        for viewer in all {
            if let duration = viewer.answeredAfter { answers.add(nanoseconds: duration.nanoseconds) }
            if let duration = viewer.heardAfter { first.add(nanoseconds: duration.nanoseconds) }
            guard let duration = viewer.connectedAfter else { continue }
            connections.add(nanoseconds: duration.nanoseconds)
            if viewer.sink.sources.isEmpty { silent += 1 }
            for source in viewer.sink.sources.values {
                packets += source.account.received
                lost += source.account.lost
            }
        }
        viewers = all.count - failures.values.reduce(0, +)
        (answerMilliseconds, connectMilliseconds) = (answers.summary, connections.summary)
        firstPacketMilliseconds = first.summary
    }
}
