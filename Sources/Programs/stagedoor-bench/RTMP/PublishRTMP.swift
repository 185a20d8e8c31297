import ArgumentParser
import EventLoop
import Foundation
import Wire

/// `stagedoor-bench rtmp`: N publishers in one process, from one prepared FLV file, at real-time pace.
struct PublishRTMP: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rtmp", abstract: "Publishes one FLV file, or several as layers, over many RTMP or RTMPS connections.")

    @Argument(help: "Server and application, such as rtmp://127.0.0.1:1935/app; {} in it is the number of the stream.")
    var url: String
    @OptionGroup var media: LayeredMedia
    @Option(help: "A stream key (repeat it); {} in it is the number of the stream.")
    var key: [String] = []
    @Option(help: "File with one stream key per line.")
    var keys: String?
    @Option(help: "Streams; by default one for each key.")
    var streams: Int?
    @Option(help: "How long, in seconds; less when the server has ended every stream.")
    var seconds = 10.0
    @Option(help: "Media seconds for each second of time.")
    var speed = 1.0
    @Option(help: "First timestamp, in milliseconds.")
    var firstTimestamp = 0
    @Flag(inversion: .prefixedNo, help: "Repeat the extended timestamp in type-3 chunks, as ffmpeg does.")
    var repeatExtendedTimestamp = true
    @Flag(help: "Put the time of sending into every access unit, for the receiver to measure latency.")
    var marks = false
    @Option(help: "How connections end: fin or rst.")
    var ending: RTMPClient.Ending = .fin
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?

    struct Report: Encodable {
        var streams = 0
        var refused = 0
        var endedByServer = 0
        var seconds = 0.0
        var messages = 0
        var bytes = 0
        var connectMilliseconds = Percentiles.Summary()
        var process: ProcessUse?
    }

    func run() throws {
        let file = FLVFile(layers: try media.files())
        let plan = Publisher.Plan(
            file: file,
            bodies: file.tags.map { marks && $0.takesMark ? LatencyMark.inserted(into: $0.body) : $0.body },
            isMarked: marks, firstTimestamp: firstTimestamp, repeatsExtendedTimestamp: repeatExtendedTimestamp, speed: speed,
            rests: media.rest, seconds: seconds)
        let loop = try EventLoop()
        var report = Report()
        var connecting = Percentiles()
        let clients = try streamURLs().compactMap { url -> RTMPClient? in
            let start = EventLoop.monotonicNow()
            guard let client = try? RTMPClient(url: url) else { report.refused += 1; return nil }
            connecting.add(nanoseconds: (EventLoop.monotonicNow() - start).nanoseconds)
            return client
        }
        report.connectMilliseconds = connecting.summary
        report.streams = clients.count
        publish(plan, over: clients, on: loop, into: &report)
        try print(report: report)
        if report.refused > 0 || report.endedByServer > 0 { throw ExitCode(1) }
    }

    private func publish(_ plan: Publisher.Plan, over clients: [RTMPClient], on loop: EventLoop, into report: inout Report) {
        guard !clients.isEmpty else { return }
        let publishers = clients.enumerated().map { index, client in
            Publisher(plan: plan, client: client, loop: loop, delay: media.delay(of: index, among: clients.count))
        }
        let start = EventLoop.monotonicNow()
        let before = pid.flatMap(ProcessFigures.init)
        for publisher in publishers { publisher.onDone = { if publishers.allSatisfy(\.isDone) { loop.stop() } } }
        let ends = loop.schedule(after: .seconds(seconds) + Self.patience) { loop.stop() }
        let interrupts = [SIGINT, SIGTERM].map { loop.watchSignal($0) { loop.stop() } }
        loop.run()
        withExtendedLifetime((ends, interrupts)) {}
        report.seconds = (EventLoop.monotonicNow() - start).inSeconds
        report.process = ProcessUse(before: before, pid: pid, seconds: report.seconds, streams: clients.count)
        report.endedByServer = publishers.count { $0.endedAt != nil }
        report.messages = publishers.reduce(0) { $0 + $1.sentMessages }
        report.bytes = publishers.reduce(0) { $0 + $1.sentBytes }
        for publisher in publishers {
            publisher.onDone = {}
            publisher.stop(ending)
        }
    }

    /// For what is late, or waits for the server to read it.
    private static let patience = Duration.seconds(60)

    private func streamURLs() throws -> [String] {
        var names = key
        if let keys {
            names += try String(contentsOfFile: keys, encoding: .utf8).split(whereSeparator: \.isWhitespace).map(String.init)
        }
        guard !names.isEmpty else { throw ValidationError("give --key or --keys") }
        return (0..<(streams ?? names.count)).map { index in
            "\(url)/\(names[index % names.count])".replacingOccurrences(of: "{}", with: "\(index)")
        }
    }
}

extension RTMPClient.Ending: ExpressibleByArgument {}
