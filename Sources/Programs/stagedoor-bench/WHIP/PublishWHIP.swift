import ArgumentParser
import DTLS
import EventLoop
import Foundation
import SRTP
import Wire

/// `stagedoor-bench whip`: N publishers in one process, from one prepared FLV file, at real-time pace.
struct PublishWHIP: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whip",
        abstract: "Publishes the video of one FLV file, or of several as layers, with Opus made up, over many WHIP connections.")

    @Argument(help: "The WHIP endpoint, such as http://127.0.0.1:8080/whip; {} in it is the number of the stream.")
    var url: String
    @OptionGroup var media: LayeredMedia
    @Option(help: "What OBS does wrong with layers (repeat it): crossed-requests, one-report.")
    var fault: [SimulcastFault] = []
    @OptionGroup var credentials: WHIPCredentials
    @Option(help: "Streams; by default one for each token.")
    var streams: Int?
    @Option(help: "How long, in seconds, after all are connected; less when the server has ended every stream.")
    var seconds = 10.0
    @Option(help: "Set-ups under way at a time.")
    var concurrency = 1
    @Flag(help: "Spread a frame's packets over its time; without it they leave in a burst.")
    var paced = false
    @Flag(name: .customLong("aes-cm"), help: "Offer AES_CM_128_HMAC_SHA1_80 alone; otherwise AES-GCM first.")
    var offersAESCMOnly = false
    @Flag(help: "Put the time of sending into every access unit, for the receiver to measure latency.")
    var marks = false
    @Flag(
        help: """
            Send the first access unit alone, as soon as a connection stands, marked with the time of its POST: the receiver's \
            first packets tell how long a viewer waits for a publisher.
            """)
    var opening = false
    @Option(help: "Percent of the video packets that get lost at first, for the server to ask for.")
    var loss = 0.0
    @Option(help: "What the offer says of the video; the file is sent as it is.")
    var profileLevelID = "42e01f"
    @Option(
        help: "The first stream goes on from another port after so many seconds, and at SIGUSR1, as behind a NAT that forgot it.")
    var rebindAfter: Double?
    @Flag(
        help: "Without signalling: the URL has the address of stagedoor-bench relay srtp, stream N has the Nth port from it on.")
    var bare = false
    @Option(help: "PEM file of the authority that signed the endpoint's certificate.")
    var ca: String?
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?

    struct Report: Encodable {
        var streams = 0
        var refused = 0
        /// What went wrong in set-ups and with DELETE, and how often.
        var failures: [String: Int] = [:]
        var endedByServer = 0
        /// From the first packet to the first end by the server.
        var endedAfterSeconds: Double?
        var deleted = 0
        var seconds = 0.0
        var packets = 0
        var bytes = 0
        var senderReports = 0
        var nackedPackets = 0
        var retransmitted = 0
        var keyframeRequests = 0
        /// In the order of their rids, all streams together.
        var layers: [MediaSenders.LayerAccount] = []
        /// From POST to 201.
        var answerMilliseconds = Percentiles.Summary()
        /// From POST to the end of the DTLS handshake.
        var connectMilliseconds = Percentiles.Summary()
        var cpuMillisecondsPerSetUp: Double?
        var process: ProcessUse?
    }

    func run() throws {
        let clip = try RTPClip(media.files(), isPaced: paced, isMarked: marks || opening)
        let loop = try EventLoop()
        let tokens = try credentials.tokens(streams: streams, loop: loop)
        let profiles = offersAESCMOnly ? SRTPProfile.aes128CMSHA1_80.opensslName : DTLSContext.srtpProfiles
        let context = try DTLSContext(DTLSCertificate.make(), srtpProfiles: profiles)
        let publishers = try tokens.enumerated().map { index, token in
            guard let endpoint = URL(string: url.replacingOccurrences(of: "{}", with: "\(index)")) else {
                throw ValidationError("“\(url)” is no URL")
            }
            let client = WHIPEndpointClient(loop: loop, endpoint: endpoint, certificateAuthority: ca)
            return WHIPPublisher(loop: loop, endpoint: client, token: token, context: context, manner)
        }
        var report = Report()
        let connected =
            bare
            ? try begin(publishers, into: &report)
            : connect(publishers, on: loop, into: &report) { if opening { $0.open(clip) } }
        if !opening { publish(clip, by: connected, on: loop, into: &report) }
        report.endedByServer = connected.count(where: \.isEndedByServer)
        report.endedAfterSeconds = connected.compactMap(\.endedAfter?.inSeconds).min()
        end(publishers, on: loop, into: &report)
        try print(report: report)
        if report.refused > 0 || report.endedByServer > 0 { throw ExitCode(1) }
    }

    private var manner: WHIPPublisher.Manner {
        WHIPPublisher.Manner(
            profileLevelID: profileLevelID, layerCount: media.flv.count, faults: Set(fault), rests: media.rest, loss: loss / 100)
    }

    /// Without set-ups.
    private func begin(_ publishers: [WHIPPublisher], into report: inout Report) throws -> [WHIPPublisher] {
        guard let url = URL(string: url), let ip = url.host.flatMap(IPAddress.init),
            let port = url.port.flatMap(UInt16.init(exactly:))
        else { throw ValidationError("--bare needs an address and a port, such as srtp://127.0.0.1:5004") }
        for (index, publisher) in publishers.enumerated() {
            let remote = SocketAddress(ip, port: port + UInt16(index))
            try publisher.connect(bare: remote, offersAESCMOnly ? .aes128CMSHA1_80 : .aeadAES128GCM)
        }
        report.streams = publishers.count
        return publishers
    }

    /// Sets up `concurrency` at a time and returns those that are connected; `onConnected` is called for each at once.
    private func connect(
        _ publishers: [WHIPPublisher], on loop: EventLoop, into report: inout Report,
        onConnected: @escaping (WHIPPublisher) -> Void
    ) -> [WHIPPublisher] {
        let before = pid.flatMap(ProcessFigures.init)
        var waiting = publishers[...]
        var failures: [String: Int] = [:]
        var finished = 0
        func connectNext() {
            guard let publisher = waiting.popFirst() else { return }
            publisher.connect(within: Self.patience) { fault in
                if let fault { failures[fault, default: 0] += 1 } else { onConnected(publisher) }
                finished += 1
                connectNext()
            }
        }
        for _ in 0..<max(1, concurrency) { connectNext() }
        _ = loop.run(until: { finished == publishers.count }, within: Self.patience * publishers.count)
        let connected = publishers.filter { $0.connectedAfter != nil }
        var (answers, connections) = (Percentiles(), Percentiles())
        for duration in publishers.compactMap(\.answeredAfter) { answers.add(nanoseconds: duration.nanoseconds) }
        for duration in connected.compactMap(\.connectedAfter) { connections.add(nanoseconds: duration.nanoseconds) }
        (report.answerMilliseconds, report.connectMilliseconds) = (answers.summary, connections.summary)
        (report.streams, report.refused, report.failures) = (connected.count, publishers.count - connected.count, failures)
        report.cpuMillisecondsPerSetUp =
            ProcessUse(before: before, pid: pid, seconds: 1, streams: publishers.count)?
            .cpuMillisecondsPerStreamSecond
        return connected
    }

    private func publish(_ clip: RTPClip, by publishers: [WHIPPublisher], on loop: EventLoop, into report: inout Report) {
        guard !publishers.isEmpty else { return }
        for (index, publisher) in publishers.enumerated() {
            publisher.onEnd = { if publishers.allSatisfy({ $0.isEndedByServer || $0.isDone }) { loop.stop() } }
            publisher.publish(clip, delay: media.delay(of: index, among: publishers.count), for: .seconds(seconds))
        }
        let start = EventLoop.monotonicNow()
        let before = pid.flatMap(ProcessFigures.init)
        let ends = loop.schedule(after: .seconds(seconds) + Self.patience) { loop.stop() }
        let rebinding = rebindAfter.map {
            loop.schedule(after: .seconds($0)) { publishers.first?.rebind() }
        }
        let signals =
            [SIGINT, SIGTERM].map { loop.watchSignal($0) { loop.stop() } }
            + [loop.watchSignal(SIGUSR1) { publishers.first?.rebind() }]
        loop.run()
        withExtendedLifetime((ends, rebinding, signals)) {}
        report.seconds = (EventLoop.monotonicNow() - start).inSeconds
        report.process = ProcessUse(before: before, pid: pid, seconds: report.seconds, streams: publishers.count)
        for publisher in publishers {
            publisher.stop()
            // What ends them from now on is our DELETE, whose answers are waited for.
            publisher.onEnd = {}
        }
    }

    /// Ends what was connected, and what a server still holds of set-ups that failed.
    private func end(_ publishers: [WHIPPublisher], on loop: EventLoop, into report: inout Report) {
        // The last packets and requests for them are on their way.
        _ = loop.run(until: { false }, within: Self.drainTime)
        for publisher in publishers { publisher.delete() }
        _ = loop.run(until: { publishers.allSatisfy { $0.isDeleted != nil } }, within: Self.patience)
        report.deleted = publishers.count { $0.isDeleted == true }
        for fault in publishers.compactMap(\.deletionFault) { report.failures[fault, default: 0] += 1 }
        report.add(publishers)
    }

    /// For each set-up, for all ends, and for what is sent late: of a machine that is busy with others as well.
    private static let patience = Duration.seconds(60)
    private static let drainTime = Duration.milliseconds(300)
}

extension PublishWHIP.Report {
    /// What was sent and asked for.
    fileprivate mutating func add(_ publishers: [WHIPPublisher]) {
        layers = Array(repeating: .init(), count: publishers.first?.senders.layers.count ?? 0)
        for publisher in publishers {
            senderReports += publisher.senderReports
            (packets, bytes) = (packets + publisher.senders.audioAccount.packets, bytes + publisher.senders.audioAccount.bytes)
            for (index, account) in publisher.senders.layers.enumerated() { layers[index] += account }
        }
        for account in layers {
            packets += account.packets
            bytes += account.bytes
            nackedPackets += account.nackedPackets
            retransmitted += account.retransmitted
            keyframeRequests += account.keyframeRequests
        }
    }
}
