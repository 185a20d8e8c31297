import Foundation

/// Real encoders, each with the line a user would type.
enum Encoder {
    /// Seconds, longer than any test: one whose stream has to outlast what it looks at ends it by itself.
    static let untilStopped = 600

    /// ffmpeg at real-time pace, stream copy.
    static func ffmpeg(_ clip: Clip, to url: String, options: [String] = [], seconds: Int? = nil) throws -> ProgramRun {
        var arguments = ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re"]
        if seconds ?? 0 > clip.seconds { arguments += ["-stream_loop", "-1"] }
        arguments += ["-i", try clip.file(), "-c", "copy"]
        if let seconds { arguments += ["-t", "\(seconds)"] }
        return try ProgramRun(arguments + ["-f", "flv"] + options + [url])
    }

    /// The line of ffmpeg that sends what a feed brings, until it is ended.
    static func line(_ feed: Feed, to url: String, _ options: [String] = []) -> [String] {
        ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-i", feed.path, "-c", "copy", "-f", "flv"]
            + options + [url]
    }

    /// GStreamer's rtmp2sink.
    static func gstreamer(_ clip: Clip, to url: String) throws -> ProgramRun {
        let pipeline = """
            filesrc location=\(try clip.file()) ! flvdemux name=d \
            d.video ! queue ! h264parse ! flvmux name=m streamable=true ! rtmp2sink sync=true location=\(url) \
            d.audio ! queue ! aacparse ! m.
            """
        return try ProgramRun(["gst-launch-1.0", "-q"] + pipeline.split(separator: " ").map(String.init))
    }

    /// librtmp, which OBS, GStreamer's older sink and many boxes use.
    static func librtmp(_ clip: Clip, to url: String, options: [String] = [], seconds: Int? = nil) throws -> ProgramRun {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        let server = parts.dropLast().joined(separator: "/")
        return try ProgramRun(
            [
                try Workspace.program("stagedoor-bench"), "rtmp", server, "--key", String(parts[parts.count - 1]), "--flv",
                try clip.file(), "--seconds", "\(seconds ?? clip.seconds)",
            ] + options)
    }
}
