import Foundation
import Testing

/// A clip for the media contract: what ffmpeg makes it of, and what must become of it.
struct ContractClip: Sendable, CustomTestStringConvertible {
    enum Route: Sendable { case rtmp, whip }

    /// How a publish must end.
    struct Verdict: Sendable {
        var code: String
        /// `error_code` of the event.
        var error: String
        /// What the sentence must name, beside the code.
        var words: [String] = []
        /// How much of the clip may have come by then, in seconds: at least so much, and at most.
        var media: ClosedRange<Double> = 0...2

        func naming(_ words: [String]) -> Verdict { Verdict(code: code, error: error, words: words, media: media) }
        func after(_ media: ClosedRange<Double>) -> Verdict { Verdict(code: code, error: error, words: words, media: media) }
    }

    var name: String
    /// ffmpeg's inputs and encoding options; several parts follow each other in one stream.
    var parts: [[String]]
    /// A change of the FLV file: other bytes in place of the first ones that are found.
    var patch: (of: [UInt8], to: [UInt8])?
    var seconds = 6
    var frameRate = 30.0
    var routes: [Route] = [.rtmp, .whip]
    /// Nil for clips that must not be touched.
    var verdict: Verdict?
    /// Where WebRTC's way to the verdict is another one.
    var whipMedia: ClosedRange<Double>?

    var testDescription: String { name }

    init(_ name: String, _ parts: [String]..., then change: (inout ContractClip) -> Void = { _ in }) {
        (self.name, self.parts) = (name, parts)
        change(&self)
    }

    /// The FLV file; made the first time it is asked for.
    func file() throws -> URL {
        let recipe = parts.joined(separator: ["then"]) + ["\(seconds)", "\(patch?.to ?? [])"]
        return try ClipCache.file(recipe) { file in
            let script = try parts.count == 1 ? Self.line(parts[0] + ["-t", "\(seconds)", file.path]) : concatenation(file)
            _ = try ProgramRun.output(of: ["sh", "-c", script], within: .seconds(180))
            guard let patch else { return }
            var bytes = [UInt8](try Data(contentsOf: file))
            let found = try #require(bytes.indices.first { bytes[$0...].starts(with: patch.of) }, "\(name)")
            bytes.replaceSubrange(found..<(found + patch.of.count), with: patch.to)
            try Data(bytes).write(to: file)
        }
    }

    /// MPEG-TS carries parameter sets in the stream, so that parts may differ; each part says how long it is.
    private func concatenation(_ file: URL) throws -> String {
        let list = Workspace.temporaryFile(suffix: ".txt")
        let pieces = parts.map { _ in Workspace.temporaryFile(suffix: ".ts") }
        try pieces.map { "file '\($0.path)'\n" }.joined().write(to: list, atomically: true, encoding: .utf8)
        let lines = zip(parts, pieces).map { Self.line($0 + [$1.path]) }
        let join = Self.line(["-f", "concat", "-safe", "0", "-i", list.path, "-c", "copy", file.path])
        return (lines + [join]).joined(separator: " && ")
    }

    private static func line(_ arguments: [String]) -> String {
        (["ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-y"] + arguments).map { "'\($0)'" }.joined(separator: " ")
    }
}

/// What clips are made of.
extension ContractClip {
    static func picture(_ size: String = "640x360", rate: Int = 30) -> [String] {
        ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=\(rate)"]
    }

    static func sound(_ rate: Int = 48_000) -> [String] { ["-f", "lavfi", "-i", "sine=r=\(rate)"] }
    static let aac = ["-c:a", "aac", "-b:a", "96k", "-ac", "2"]
    static let baseline = x264(["-profile:v", "baseline", "-bf", "0"])

    static func x264(_ options: [String]) -> [String] {
        ["-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-g", "60", "-pix_fmt", "yuv420p"]
            + ["-b:v", "2M", "-maxrate", "2M", "-bufsize", "2M"] + options
    }

    /// Noise, which costs every bit that the encoder may spend.
    static func constant(_ kilobits: Int, buffer: Double = 1, _ more: [String] = []) -> [String] {
        let rate = "\(kilobits)k"
        return ["-f", "lavfi", "-i", "nullsrc=s=320x180:r=30,format=gray,noise=alls=100:allf=t,format=yuv420p"] + sound()
            + baseline
            + ["-b:v", rate, "-minrate", rate, "-maxrate", rate, "-bufsize", "\(Int(Double(kilobits) * buffer))k"] + aac + more
    }
}
