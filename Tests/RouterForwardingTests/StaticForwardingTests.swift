import Admission
import EventLoop
import Foundation
import GatewayMetrics
import Refusals
import SRTP
import Sockets
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// Debian's ffmpeg receives by the description file, in real time, and every picture must be the encoder's.
@Suite("Static forwarding to ffmpeg", .serialized, .timeLimit(.minutes(10)))
struct StaticForwardingTests {
    static let options: [[String]] = [
        ["testsrc2=s=1280x720:r=30:d=2,noise=alls=10:allf=t:all_seed=7", "-b:v", "2500k", "-x264-params", "slices=4:aud=1"],
        ["testsrc2=s=720x1280:r=60:d=2", "-b:v", "1M", "-x264-params", "repeat-headers=1"],
    ]

    @Test(arguments: options)
    func `every picture arrives as it was encoded`(_ options: [String]) throws {
        try Self.forward(options, protection: nil)
    }

    @Test func `SRTP with the key in the description arrives as well`() throws {
        try Self.forward(Self.options[0], protection: .aes128CMSHA1_80)
    }

    /// Again where the receiver lost something by itself: without a processor for a second, its
    /// socket has no room for what comes.
    static func forward(_ options: [String], protection: SRTPProfile?) throws {
        for _ in 0..<5 { if try isJudged(options, protection) { return } }
        Issue.record("the receiver's own buffer overflowed each time")
    }

    /// - Returns: false where the kernel dropped what came to the receiver, which says nothing of what was sent.
    private static func isJudged(_ options: [String], _ protection: SRTPProfile?) throws -> Bool {
        let directory = FileManager.default.temporaryDirectory.appending(path: "static-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let clip = directory.appending(path: "clip.h264").path
        let rate = options[0].contains("r=60") ? 60 : 30
        let encode = ["-f", "lavfi", "-i", options[0], "-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline"]
        _ = try FFmpeg.output(encode + ["-pix_fmt", "yuv420p", "-g", "\(rate)"] + options[1...] + ["-f", "h264", clip])
        let list = try FFmpeg.output(["-i", clip, "-f", "framemd5", "-"])
        let expected = Self.pictures(String(decoding: list, as: UTF8.self))
        let units = AnnexB.accessUnits([UInt8](try Data(contentsOf: URL(filePath: clip))))
        #expect(units.count == expected.count)

        let loop = try EventLoop()
        let files = DescriptionFiles(directory: directory.path)
        let ports = FreePorts.inARow(100)
        let router = StaticRouter(.init(ports: ports, protection: protection)) { participant, sdp in
            files.write(sdp, for: participant)
        }
        let stream = try Stream(loop: loop, router: router, units: units, framesPerSecond: rate)
        let description = try #require(files.path(of: ParticipantKey("p", onStage: "s")))
        let output = directory.appending(path: "received")
        let receiver = try Self.start(
            ["-protocol_whitelist", "file,udp,rtp,srtp", "-i", description, "-map", "0:v"]
                + ["-fps_mode", "passthrough", "-flush_packets", "1", "-f", "framemd5", output.path])
        defer { receiver.terminate() }
        #expect(waitUntil { Self.isBound(ports.lowerBound) }, "ffmpeg did not open its socket")
        stream.start()
        #expect(loop.run(until: { stream.isDone }, within: .seconds(60)))
        // The decoder holds back the last picture until the stream goes on.
        let deadline = ContinuousClock.now + .seconds(90)
        var received: [Substring] = []
        while received.count < expected.count - 1, ContinuousClock.now < deadline {
            guard Self.isLossless(ports.lowerBound) else { return false }
            received = Self.pictures((try? String(contentsOf: output, encoding: .utf8)) ?? "")
            _ = loop.run(until: { false }, within: .milliseconds(50))
        }
        guard Self.isLossless(ports.lowerBound) else { return false }
        #expect(received.count >= expected.count - 1)
        #expect(received == Array(expected.prefix(received.count)))
        #expect(stream.socket.metrics?.unsent.value == 0)
        return true
    }

    /// The hashes of a framemd5 list.
    static func pictures(_ list: String) -> [Substring] {
        list.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").last }
    }

    private static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/ffmpeg")
        process.arguments = ["-hide_banner", "-nostdin", "-loglevel", "error", "-y"] + arguments
        try process.run()
        return process
    }

    /// Whether the kernel dropped nothing at the port, as long as its socket is open.
    static func isLossless(_ port: UInt16) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let lines = ["/proc/net/udp", "/proc/net/udp6"].map(kernelTable)
        let sockets = lines.joined().split(separator: "\n").filter { $0.contains(":\(digits) ") }
        return sockets.allSatisfy { $0.split(separator: " ").last == "0" }
    }

    /// Whether some process has the UDP port.
    static func isBound(_ port: UInt16) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        return ["/proc/net/udp", "/proc/net/udp6"].contains { kernelTable($0).contains(":\(digits) ") }
    }
}

/// An encoder in real time: access units of a clip through the hub to the router.
private final class Stream {
    let socket: RouterSocket
    let publication: Publication
    private let writer: ClipWriter
    private var audioCount: Int64 = 0
    private var nextAudio = Duration.zero
    private let units: [AnnexB.AccessUnit]
    private let framesPerSecond: Int
    private let loop: EventLoop
    private var next = 0
    private var timer: TimerWatch?

    init(loop: EventLoop, router: StaticRouter, units: [AnnexB.AccessUnit], framesPerSecond: Int) throws {
        (self.loop, self.units, self.framesPerSecond) = (loop, units, framesPerSecond)
        socket = try RouterSocket(loop: loop, metrics: RouterMetrics(MetricsRegistry(), routers: []))
        publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        _ = router.attach(publication, socket: socket)
        writer = ClipWriter(units, to: publication)
        publication.setFormat(.opus(isStereo: true), of: .audio)
    }

    var isDone: Bool { next == units.count }

    func start() {
        let interval = Duration.microseconds(1_000_000 / framesPerSecond)
        timer = loop.schedule(after: .zero, repeating: interval) { [unowned self] in sendNext() }
    }

    /// Parameter sets are left out, as in RTMP, where they come once in the sequence header.
    private func sendNext() {
        guard !isDone else { return timer = nil }
        let unit = units[next]
        let stamp = Duration.milliseconds(next * 1000 / framesPerSecond)
        while nextAudio <= stamp { sendSilence() }
        let placed = publication.timeline.place(stamp, of: .video, arrival: loop.now)
        writer.write(unit, at: placed, arrival: loop.now)
        next += 1
        if isDone { publication.end(.closed) }
    }

    /// 20 ms of Opus that says nothing.
    private func sendSilence() {
        let placed = publication.timeline.place(nextAudio, of: .audio, arrival: loop.now)
        ([0xFC, 0xFF, 0xFE] as [UInt8]).withUnsafeBytes { bytes in
            let packet = MediaPacket(
                sequenceNumber: audioCount, timestamp: placed.timestamp(for: .audio), marker: audioCount == 0, payload: bytes)
            let run = MediaRun(track: .audio, isKeyframe: false, arrival: loop.now)
            withUnsafePointer(to: packet) { publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
        }
        audioCount += 1
        nextAudio += .milliseconds(20)
    }
}
