import Admission
import EventLoop
import Foundation
import GatewayMetrics
import MediaContract
import Refusals
import Sockets
import StageHub
import TestSupport
import Testing
import Transcoding
import Wire

@testable import RTMPIngest

/// Clips that ffmpeg makes and pushes in real time, all at once, into the real front end with the real contract.
@Suite("RTMP and the media contract, with ffmpeg", .serialized)
struct ContractClipsTests {
    struct Clip: Sendable {
        var name: String
        /// ffmpeg's inputs and encoding options.
        var options: [String]
        var code: RefusalCode?
        /// What the sentence must name.
        var words: [String] = []
    }

    static let picture = ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=30"]
    static let sound = ["-f", "lavfi", "-i", "sine=sample_rate=48000"]
    static let good = ["-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline", "-bf", "0", "-g", "60"]
    static let aac = ["-c:a", "aac", "-b:a", "96k", "-ac", "2"]

    static func picture(_ size: String, rate: Int = 30) -> [String] { ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=\(rate)"] }
    static func x264(_ options: [String]) -> [String] { ["-c:v", "libx264", "-preset", "ultrafast"] + options }

    static let goodClips: [Clip] = [
        Clip(name: "720p30", options: picture("1280x720") + sound + good + aac),
        Clip(name: "portrait", options: picture("720x1280") + sound + good + aac),
        Clip(name: "160 lines", options: picture("284x160") + sound + good + aac),
        Clip(name: "10 fps", options: picture("640x360", rate: 10) + sound + good + ["-g", "20"] + aac),
        Clip(name: "44.1 kHz mono", options: picture + sound + good + aac + ["-ar", "44100", "-ac", "1"]),
        Clip(name: "4 slices", options: picture + sound + good + ["-slices", "4"] + aac),
        Clip(
            name: "filler",
            options: picture + sound + good + aac + [
                "-b:v", "2M", "-minrate", "2M", "-maxrate", "2M", "-bufsize", "2M", "-nal-hrd", "cbr",
            ]),
    ]

    static let badClips: [Clip] = [
        Clip(
            name: "B-frames", options: picture + sound + x264(["-profile:v", "main", "-bf", "2", "-g", "60"]) + aac,
            code: .bFrames),
        Clip(
            name: "untouched OBS",
            options: picture + sound + ["-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", "-bf", "2", "-g", "250"]
                + aac,
            code: .bFrames, words: ["High profile", "2 B-frames", "keyframe every 8.3 s", "-bf 0", "-profile:v baseline"]),
        Clip(
            name: "Main", options: picture + sound + x264(["-profile:v", "main", "-coder", "1", "-bf", "0", "-g", "60"]) + aac,
            code: .videoProfile, words: ["Main profile", "-profile:v baseline"]),
        Clip(
            name: "High",
            options: picture + sound + x264(["-profile:v", "high", "-x264opts", "8x8dct=1:cabac=1", "-bf", "0", "-g", "60"])
                + aac,
            code: .videoProfile, words: ["High profile"]),
        Clip(
            name: "interlaced",
            options: picture + sound
                + x264(["-profile:v", "main", "-coder", "1", "-flags", "+ildct+ilme", "-bf", "0", "-g", "60"])
                + aac,
            code: .interlacedVideo),
        Clip(name: "1080p", options: picture("1920x1080") + sound + good + aac, code: .resolutionExceeded, words: ["1920x1080"]),
        Clip(name: "158 lines", options: picture("282x158") + sound + good + aac, code: .resolutionTooSmall),
        Clip(
            name: "12 Mbit/s",
            options: ["-f", "lavfi", "-i", "nullsrc=s=480x270:r=30,noise=alls=100:allf=t,format=yuv420p"] + sound + good + aac + [
                "-b:v", "12M", "-minrate", "12M", "-maxrate", "12M", "-bufsize", "12M",
            ], code: .bitrateExceeded, words: ["Mbit/s (at most 8.5)"]),
        Clip(name: "video only", options: picture + good, code: .missingTrack, words: ["no audio"]),
        Clip(name: "audio only", options: sound + aac, code: .missingTrack, words: ["no video"]),
        Clip(
            name: "MP3", options: picture + sound + good + ["-c:a", "libmp3lame", "-ar", "44100"], code: .audioCodec,
            words: ["MP3"]),
        Clip(name: "96 kHz", options: picture + sound + good + aac + ["-ar", "96000"], code: .audioFormat, words: ["96 kHz"]),
        Clip(name: "5.1", options: picture + sound + good + aac + ["-ac", "6"], code: .audioFormat, words: ["6 channels"]),
    ]

    @Test(.timeLimit(.minutes(3)))
    func `good clips are never touched, bad ones end in words with their own code`() throws {
        let clips = Self.goodClips + Self.badClips
        let bench = try ClipBench(clips.map(\.name))
        let files = try clips.map(Push.encode)
        let pushes = try files.enumerated().map { try Push($1, key: "KEY\($0)", port: bench.port) }
        let isDone = bench.run(until: { pushes.allSatisfy { !$0.isRunning } }, within: .seconds(120))
        #expect(isDone)
        for (clip, push) in zip(clips, pushes) {
            let refusal = bench.refusal(of: clip.name)
            #expect(refusal?.code == clip.code, "\(clip.name): \(refusal?.text ?? "no refusal") \(push.output)")
            guard let refusal else { continue }
            #expect(push.output.contains(refusal.sentence), "\(clip.name): ffmpeg prints \(push.output)")
            for words in clip.words { #expect(refusal.sentence.contains(words), "\(clip.name): \(refusal.sentence)") }
        }
    }
}

/// ffmpeg pushing a clip in real time.
private final class Push {
    private let process = Process()
    private let log: URL
    private let file: URL

    /// - Parameter file: the clip, removed when the push is dropped.
    init(_ file: URL, key: String, port: UInt16) throws {
        self.file = file
        log = file.appendingPathExtension("log")
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let push = "ffmpeg -nostdin -hide_banner -re -i '\(file.path)' -c copy -f flv rtmp://127.0.0.1:\(port)/app/\(key)"
        process.arguments = ["-c", "exec \(push) 2>'\(log.path)'"]
        try process.run()
    }

    /// Encodes the clip, seven seconds at most.
    static func encode(_ clip: ContractClipsTests.Clip) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("clip-\(UUID().uuidString).flv")
        _ = try FFmpeg.output(clip.options + ["-t", "7", "-shortest", "-pix_fmt", "yuv420p", "-y", file.path])
        return file
    }

    var isRunning: Bool { process.isRunning }
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    deinit {
        if process.isRunning { process.terminate() }
        for leftover in [file, log] { try? FileManager.default.removeItem(at: leftover) }
    }
}

/// The front end on a real port, with one contract session for each participant.
private final class ClipBench: RTMPPublishHost {
    let loop: EventLoop
    let desk = ContractDesk()
    private let pool: TranscodingPool
    private let ingest: RTMPIngest
    private var listener: TCPListener?
    private var ends: [String: PublicationEnd] = [:]

    init(_ names: [String]) throws {
        loop = try EventLoop()
        let grants = names.enumerated().map { index, name in
            (
                "KEY\(index)",
                PublishGrant(participantID: name, stageARN: "arn:stage/s1", stageID: "s1", credentialHash: "\(index)")
            )
        }
        pool = try TranscodingPool(threadCount: 1)
        let environment = RTMPIngestEnvironment(
            settings: RTMPIngestSettings(), authorizer: TableAuthorizer(Dictionary(uniqueKeysWithValues: grants)),
            leases: MemoryLeases(), metrics: MetricsRegistry())
        ingest = try RTMPIngest(
            loop: loop, environment: environment, transcoder: try AudioTranscoder(loop: loop, pool: pool))
        ingest.host = self
        listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { [unowned self] in ingest.accept($0) }
    }

    deinit { pool.stop() }

    var port: UInt16 { listener?.localAddress.port ?? 0 }

    func run(until isDone: () -> Bool, within limit: Duration) -> Bool {
        let tick = loop.schedule(after: .milliseconds(50), repeating: .milliseconds(50)) {}
        defer { tick.cancel() }
        return loop.run(until: isDone, within: limit)
    }

    func refusal(of name: String) -> Refusal? {
        if case .refused(let refusal) = ends[name] { refusal } else { nil }
    }

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? { nil }
    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest
    ) -> (any MediaInspector)? {
        let publisher = ContractPublisher(
            credential: grant.credentialHash, source: request.source.ip, product: request.userAgent, stageTags: grant.stageTags)
        return ContractSession(desk: desk, ingest: .rtmp, publisher: publisher)
    }
    func publishBegan(_ publication: Publication) {}
    func publishEnded(_ publication: Publication, _ reason: PublicationEnd) { ends[publication.grant.participantID] = reason }
}
