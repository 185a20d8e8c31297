import Foundation
import Testing

extension Interop.MediaContract {
    /// What goes wrong in mid-stream, or cannot be muxed by ffmpeg, at the real program.
    @Suite struct Matrix {
        struct Bad: Sendable, CustomTestStringConvertible {
            var name: String
            /// ffmpeg's encoding of each part; the parts follow each other in one stream.
            var parts: [[String]]
            /// What ffmpeg must print.
            var words: String
            var testDescription: String { name }
        }

        static let sound = ["-f", "lavfi", "-i", "sine=r=48000"]
        static let aac = ["-c:a", "aac", "-b:a", "96k", "-ac", "2"]

        static func part(_ size: String, seconds: Int, _ x264: [String]) -> [String] {
            ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=30"] + sound + ["-t", "\(seconds)", "-c:v", "libx264"]
                + ["-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "30"] + x264 + aac
        }

        static let baseline = ["-profile:v", "baseline", "-bf", "0"]

        static func noise(_ rate: String) -> [String] {
            ["-f", "lavfi", "-i", "nullsrc=s=480x270:r=30,noise=alls=100:allf=t,format=yuv420p"] + sound
                + ["-t", "14", "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-b:v", rate, "-minrate", rate]
                + ["-maxrate", rate, "-bufsize", rate] + baseline + aac
        }

        static let bad = [
            Bad(
                name: "720p turning 1080p",
                parts: [part("1280x720", seconds: 4, baseline), part("1920x1080", seconds: 4, baseline)], words: "1920x1080"),
            Bad(
                name: "B-frames from second 10",
                parts: [
                    part("640x360", seconds: 10, baseline), part("640x360", seconds: 6, ["-profile:v", "main", "-bf", "2"]),
                ], words: "B-frame"),
            Bad(name: "9.5 Mbit/s", parts: [noise("9500k")], words: "Mbit/s (at most 8.5)"),
            Bad(name: "12 Mbit/s", parts: [noise("12M")], words: "Mbit/s (at most 8.5)"),
            Bad(name: "158 lines", parts: [part("282x158", seconds: 8, baseline)], words: "282x158"),
        ]

        @Test(.timeLimit(.minutes(2)), arguments: bad)
        func `a stream that goes wrong ends in words of its own`(_ clip: Bad) throws {
            let gateway = try Gateway()
            let list = Workspace.temporaryFile(suffix: ".txt")
            let files = try clip.parts.map(Self.encode)
            try files.map { "file '\($0.path)'\n" }.joined().write(to: list, atomically: true, encoding: .utf8)
            let encoder = try ProgramRun(
                ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-re", "-f", "concat", "-safe", "0", "-i", list.path]
                    + ["-c", "copy", "-f", "flv", gateway.quickstart.publishURL])
            let status = try #require(encoder.status(within: .seconds(30)))
            #expect(status != 0)

            #expect(encoder.output.contains(clip.words), "\(encoder.output)")
            gateway.stop()
        }

        /// MPEG-TS carries its parameter sets in the stream, so that parts may differ.
        private static func encode(_ part: [String]) throws -> URL {
            let file = Workspace.temporaryFile(suffix: ".ts")
            _ = try ProgramRun.output(of: ["ffmpeg", "-nostdin", "-v", "error"] + part + [file.path], within: .seconds(60))
            return file
        }

        @Test(.timeLimit(.minutes(1)), arguments: [("hvc1", "HEVC (H.265)"), ("av01", "AV1")])
        func `codecs of Enhanced RTMP other than H264 are refused by name`(_ fourCC: String, _ name: String) throws {
            let gateway = try Gateway()
            let url = try #require(URL(string: gateway.quickstart.rtmpURL))
            let connection = try RawConnection(port: UInt16(try #require(url.port)))
            let key = RTMPBytes.string(gateway.quickstart.streamKey)
            let publish = RTMPBytes.string("publish") + RTMPBytes.number(0) + [5] + key + RTMPBytes.string("live")
            let create = RTMPBytes.string("createStream") + RTMPBytes.number(2) + [5]
            // IsExHeader, a key frame, SequenceStart (Enhanced RTMP).
            let start: [UInt8] = [0x90] + fourCC.utf8 + [1, 0, 0, 0]
            connection.send(RTMPBytes.handshake + RTMPBytes.connect() + RTMPBytes.message(type: 20, create))
            connection.send(RTMPBytes.message(type: 20, stream: 1, publish))
            connection.send(RTMPBytes.message(type: 9, chunkStreamID: 6, stream: 1, start))
            let (ending, answer) = connection.ending(within: .seconds(10))
            #expect(ending == .closed)
            #expect(String(decoding: answer, as: UTF8.self).contains("\(name) video (allowed: H.264)"))
            gateway.stop()
        }
    }
}
