import Admission
import EventLoop
import FLV
import Foundation
import H264
import OpenSSL
import Refusals
import Settings
import Sockets
import StageHub
import TestSupport
import Testing
import Wire

@testable import RTMPIngest

/// ffmpeg pushes into the front end over real sockets.
@Suite("Real encoders", .serialized, .timeLimit(.minutes(10)))
struct RealEncoderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String) -> URL { URL(filePath: directory.path).appending(path: name) }

    /// Three seconds of H.264 Baseline and AAC with an IDR picture every second.
    private func makeClip(_ name: String, audio: [String] = ["-ar", "48000", "-ac", "2"]) throws -> URL {
        let url = path(name)
        let sources = ["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30", "-f", "lavfi", "-i", "sine=frequency=440"]
        let video = ["-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline", "-bf", "0", "-g", "30", "-b:v", "800k"]
        var arguments = sources + ["-t", "3"]
        arguments += video
        arguments += ["-c:a", "aac"] + audio
        _ = try FFmpeg.output(arguments + ["-y", url.path])
        return url
    }

    /// The NAL units of a file's access units, without fillers.
    private static func nalUnits(ofFLV url: URL) throws -> [[UInt8]] {
        let bytes = try Array(Data(contentsOf: url))
        var offset = 13  // header and first back pointer
        var units: [[UInt8]] = []
        while let tag = try FLVTag.next(in: bytes.span.bytes, at: &offset) {
            guard tag.type == 9, let video = try? VideoTag(parsing: Array(bytes[tag.body]).span.bytes),
                video.packet == .codedFrames
            else {
                continue
            }
            try Array(Array(bytes[tag.body])[video.body]).withUnsafeBytes { body in
                var walker = AVCCUnits(body, lengthSize: 4)
                while let unit = try walker.next() { units.append(Array(unit)) }
            }
        }
        return units
    }

    /// The NAL units in RTP packets (RFC 6184), parameter sets of aggregates left out.
    private static func nalUnits(of packets: [RecordingSink.Packet]) throws -> [[UInt8]] {
        var units: [[UInt8]] = []
        for packet in packets {
            try packet.payload.withUnsafeBytes { payload in
                switch NALUnitHeader(payload[0]).type {
                case .stapA: break
                case .fuA:
                    let part = try FUAFragment(parsing: payload)
                    if part.isStart { units.append([part.header.byte]) }
                    units[units.count - 1] += part.body
                default: units.append(packet.payload)
                }
            }
        }
        return units
    }

    private struct Server {
        let bench: IngestBench
        let listener: TCPListener

        init(tls: TLSContext? = nil) throws {
            var settings = RTMPSettings()
            settings.idleTimeout = .seconds(300)  // a busy machine may stop ffmpeg for longer than a network would
            let bench = try IngestBench(settings)
            bench.ingest.tls = tls
            self.bench = bench
            listener = try TCPListener(loop: bench.loop, address: SocketAddress(.loopback, port: 0)) { bench.ingest.accept($0) }
        }

        func url(_ scheme: String = "rtmp") -> String { "\(scheme)://127.0.0.1:\(listener.localAddress.port)/app/KEY" }

        /// Runs ffmpeg until it has ended and its publish too.
        func push(_ clip: URL, to url: String, options: [String] = []) throws -> Int32 {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments =
                ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", clip.path, "-c", "copy"] + options + ["-f", "flv", url]
            process.standardError = FileHandle.nullDevice
            try process.run()
            bench.run(beside: process) { bench.ingest.connectionCount == 0 }
            return process.terminationStatus
        }
    }

    @Test(arguments: [["-ar", "48000", "-ac", "2"], ["-ar", "44100", "-ac", "1"]])
    func `every picture of ffmpeg arrives unchanged, and its audio as Opus`(_ audio: [String]) throws {
        let clip = try makeClip("clip-\(audio[1]).flv", audio: audio)
        let server = try Server()
        #expect(try server.push(clip, to: server.url()) == 0)
        let sink = try #require(server.bench.host.sinks.first)
        let video = sink.packets(of: .video)
        #expect(try Self.nalUnits(of: video) == Self.nalUnits(ofFLV: clip))
        #expect(video.filter(\.marker).count == 90)
        #expect(sink.keyframeCount == 3)
        let times = video.filter(\.marker).map(\.timestamp)
        let largestError = zip(times, 0...).map { abs($0 - times[0] - Int64($1) * 3_000) }.max() ?? .max
        #expect(largestError <= 90, "Stamps are whole milliseconds")
        let opus = sink.packets(of: .audio)
        // What is being transcoded when the publish ends is not sent any more: up to half a second on a busy machine, which may
        // have left out as much before.
        #expect((75...154).contains(opus.count))
        #expect(zip(opus, opus.dropFirst()).allSatisfy { $1.timestamp - $0.timestamp == 960 })
        #expect(sink.formats[.audio] == .opus(isStereo: audio[3] == "2"))
        // ffmpeg closes without reading our last acknowledgement: the reset that follows may overtake its deleteStream.
        #expect([[.closed], [.connectionLost]].contains(server.bench.host.ends))
        #expect(server.bench.leases.liveCount == 0)
    }

    /// The stamps pass 2^24 - 1, where they get 32 bits, and 2^31; ffmpeg's own clock ends before 2^32.
    @Test(arguments: [16_777.215, 2_147_483.648])
    func `stamps pass their borders without a gap`(_ border: Double) throws {
        let clip = try makeClip("clip-border.flv")
        let server = try Server()
        #expect(try server.push(clip, to: server.url(), options: ["-output_ts_offset", "\(border - 1.5)"]) == 0)
        let sink = try #require(server.bench.host.sinks.first)
        let times = sink.packets(of: .video).filter(\.marker).map(\.timestamp)
        #expect(times.count == 90)
        #expect(zip(times, times.dropFirst()).allSatisfy { (2_900...3_100).contains($1 - $0) })
    }

    @Test func `ffmpeg comes by RTMPS on the same port, and verifies`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "Test CA", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "127.0.0.1", dnsNames: [], addresses: [.loopback], now: now, validFor: .seconds(3_600))
        let server = try Server(tls: try TLSContext(server: leaf))
        let clip = try makeClip("clip-tls.flv")
        let ca = path("ca.pem")
        try Data(authority.certificate.pem()).write(to: ca)
        let status = try server.push(clip, to: server.url("rtmps"), options: ["-tls_verify", "1", "-ca_file", ca.path])
        #expect(status == 0)
        #expect(server.bench.host.publications.first?.ingestProtocol == .rtmps)
        #expect(server.bench.host.sinks.first?.packets(of: .video).filter(\.marker).count == 90)
    }

    @Test func `ffmpeg shows the words of a refusal and ends`() throws {
        let clip = try makeClip("clip-refused.flv")
        let server = try Server()
        let text = try server.bench.standardError(
            of: ["-re", "-i", clip.path, "-c", "copy", "-f", "flv", server.url() + "-wrong"])
        #expect(text.contains("SD-1001: No ingest configuration has this stream key"))
    }

    /// rtmp2sink is strict about S2 and stream ids; rtmpsink is librtmp, which OBS has inside.
    @Test(arguments: ["rtmp2sink", "rtmpsink"])
    func `every picture of GStreamer and librtmp arrives unchanged`(_ sinkElement: String) throws {
        let clip = try makeClip("clip-\(sinkElement).flv")
        let server = try Server()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/gst-launch-1.0")
        let pipeline = """
            filesrc location=\(clip.path) ! flvdemux name=in in.video ! h264parse ! queue ! out. in.audio ! aacparse ! queue ! out. \
            flvmux name=out streamable=true ! \(sinkElement) location=\(server.url())
            """
        process.arguments = ["-q"] + pipeline.split(separator: " ").map(String.init)
        try process.run()
        server.bench.run(beside: process) { server.bench.ingest.connectionCount == 0 }
        let sink = try #require(server.bench.host.sinks.first)
        let sent = try Self.nalUnits(ofFLV: clip).filter { [1, 5].contains($0[0] & 0x1F) }
        let arrived = try Self.nalUnits(of: sink.packets(of: .video)).filter { [1, 5].contains($0[0] & 0x1F) }
        #expect(arrived == sent)
        // Sent at once, and not sent on at the end either.
        #expect(sink.packets(of: .audio).count > 110)
    }

    @Test func `an encoder that is killed gives its key back at once`() throws {
        let clip = try makeClip("clip-killed.flv")
        let server = try Server()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/ffmpeg")
        process.arguments = ["-nostdin", "-loglevel", "quiet", "-re", "-i", clip.path, "-c", "copy", "-f", "flv", server.url()]
        try process.run()
        #expect(server.bench.run(until: { (server.bench.host.sinks.first?.keyframeCount ?? 0) >= 1 }, within: .seconds(120)))
        kill(process.processIdentifier, SIGKILL)
        #expect(server.bench.run(until: { server.bench.leases.liveCount == 0 }, within: .seconds(60)))
        #expect(server.bench.host.ends == [.connectionLost])
    }
}

extension IngestBench {
    /// Serves the loop until the program has ended and `isDone`. No event of the loop tells an end: it is asked for every 10 ms.
    func run(beside process: Process, until isDone: () -> Bool = { true }) {
        let tick = loop.schedule(after: .zero, repeating: .milliseconds(10)) {}
        defer { tick.cancel() }
        run(until: { !process.isRunning && isDone() }, within: .seconds(300))
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Runs ffmpeg beside the loop and returns what it says.
    func standardError(of arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-loglevel", "error"] + arguments
        let pipe = Pipe()
        process.standardError = pipe
        try process.run()
        run(beside: process)
        return String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    }
}
