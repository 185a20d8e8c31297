import Foundation
import TestSupport
import Testing

/// ffmpeg as a stage router: it reads the session description, and keeps what arrives as it is.
final class Capture {
    let file = Workspace.temporaryFile(suffix: ".nut")
    private let run: ProgramRun

    /// Returns once the ports are bound: what an encoder sends then, arrives.
    init(_ description: URL, in network: NetworkNamespace? = nil) throws {
        let line = [
            "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-protocol_whitelist", "file,udp,rtp",
            // Else it gives up where nothing comes for 10 s, as before an encoder's start on a busy machine.
            "-listen_timeout", "\(Encoder.untilStopped)",
            "-reorder_queue_size", "0", "-buffer_size", "4194304", "-i", description.path, "-map", "0", "-c", "copy",
            "-copypriorss", "1", "-copyinkf", "-f", "nut",
            "-y", file.path,
        ]
        let prompt = ProgramRun.elsewhere(line)
        let run = try ProgramRun(network?.command(prompt) ?? prompt)
        self.run = run
        let ports = try String(contentsOf: description, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("m=") }
            .compactMap { UInt16($0.split(separator: " ")[1]) }
        expect("the receiver binds its ports", within: .seconds(240)) { ports.allSatisfy { Self.isBound($0, by: run) } }
        // It reads a moment after it has bound; what comes in between may overflow its small buffer.
        expect("the receiver waits for packets", within: .seconds(240)) { Self.isWaiting(run) }
    }

    private static func isBound(_ port: UInt16, by run: ProgramRun) -> Bool {
        let suffix = String(port, radix: 16, uppercase: true)
        let needle = ":" + String(repeating: "0", count: 4 - suffix.count) + suffix + " 00000000:0000"
        return kernelTable("/proc/\(run.pid)/net/udp").contains(needle)
    }

    /// True once one of its threads sleeps in poll(2) or ppoll(2), as it does between packets.
    private static func isWaiting(_ run: ProgramRun) -> Bool {
        let calls = ["7 ", "271 "]
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(run.pid)/task")) ?? []
        return threads.contains { thread in
            let call = try? String(contentsOfFile: "/proc/\(run.pid)/task/\(thread)/syscall", encoding: .utf8)
            return calls.contains { call?.hasPrefix($0) == true }
        }
    }

    var output: String { run.output }

    /// Bytes written so far.
    var byteCount: Int { ((try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int) ?? 0 }

    /// Returns at the goodbye of all tracks, where ffmpeg ends by itself, or, where none comes,
    /// once nothing has come for a while.
    func finish() {
        var (count, since) = (-1, ContinuousClock.now)
        _ = holds(within: .seconds(120)) {
            if byteCount != count { (count, since) = (byteCount, ContinuousClock.now) }
            return !run.isRunning || since.duration(to: .now) > .seconds(10)
        }
        run.interrupt()
    }
}

/// What media files say about themselves, asked of ffmpeg and ffprobe.
enum MediaFile {
    /// The MD5 of every decoded video frame, in order; what ffmpeg has to say beside them is left out.
    static func frameDigests(_ path: String) throws -> [String] {
        let output = try ProgramRun.output(
            of: [
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", path, "-map", "0:v", "-f", "framemd5", "-fps_mode",
                "passthrough", "-",
            ],
            within: .seconds(240))
        return output.split(separator: "\n").filter { $0.first?.isNumber == true }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
    }

    /// Every frame of `sent` is in `received`, and in order. Where the encoder's goodbye never came, the last ones may be
    /// missing: ffmpeg closes with the server's answers unread, so its kernel resets the connection and drops what it has not
    /// sent, which is as much as the server on a busy machine has not read.
    static func expectFrames(
        of sent: String, in received: String, saidGoodbye: Bool, at place: SourceLocation = #_sourceLocation
    ) throws {
        let (sent, received) = (try frameDigests(sent), try frameDigests(received))
        #expect(received.count >= (saidGoodbye ? sent.count : sent.count / 2), sourceLocation: place)
        #expect(Array(sent.prefix(received.count)) == received, sourceLocation: place)
    }

    /// How many audio frames decode.
    static func decodedSounds(_ path: String) throws -> Int {
        let output = try ProgramRun.output(
            of: [
                "ffprobe", "-v", "error", "-select_streams", "a:0", "-count_frames", "-show_entries", "stream=nb_read_frames",
                "-of", "csv=p=0", path,
            ], within: .seconds(240))
        return Int(output.filter(\.isNumber)) ?? 0
    }

    /// Presentation times of a stream's packets, in seconds, without the first few: until a sender report has come, ffmpeg
    /// guesses.
    static func steadyPacketTimes(_ path: String, stream: String) throws -> [Double] {
        let output = try ProgramRun.output(
            of: [
                "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of", "csv=p=0", path,
            ],
            within: .seconds(240))
        return output.split(whereSeparator: \.isWhitespace).dropFirst(5).compactMap { Double($0.split(separator: ",")[0]) }
    }

    /// Timecodes of the first seconds' keyframes, as ffmpeg's decoder tells them.
    static func timecodes(_ path: String, seconds: Int) throws -> [String] {
        let output = try ProgramRun.output(
            of: [
                "ffprobe", "-v", "error", "-select_streams", "v:0", "-skip_frame", "nokey", "-read_intervals", "%+\(seconds)",
                "-show_entries", "frame_tags=timecode", "-of", "csv=p=0", path,
            ], within: .seconds(240))
        return output.split(whereSeparator: \.isNewline).map { String($0.filter { $0.isNumber || $0 == ":" }) }
    }

    /// When black ends and when silence ends, in seconds: the flashes and the beeps.
    /// - Parameter sound: a filter of ffmpeg that comes first.
    static func flashesAndBeeps(_ path: String, sound: String = "anull") throws -> (flashes: [Double], beeps: [Double]) {
        let output = try ProgramRun.output(
            of: [
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "info", "-nostats", "-i", path,
                "-vf", "blackdetect=d=0.2:pix_th=0.2", "-af", "\(sound),silencedetect=n=-30dB:d=0.2", "-f", "null",
                "-",
            ], within: .seconds(240))
        func times(after word: String) -> [Double] {
            output.components(separatedBy: word).dropFirst().compactMap {
                Double($0.prefix { $0.isNumber || $0 == "." || $0 == "-" })
            }
        }
        return (times(after: "black_end:"), times(after: "silence_end: "))
    }
}
