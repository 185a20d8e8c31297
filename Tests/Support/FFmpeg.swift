import Foundation

/// The installed ffmpeg, for streams made at test time.
public enum FFmpeg {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Runs ffmpeg quietly and returns what it writes to its standard output.
    public static func output(_ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.readToEnd()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "ffmpeg \(arguments.joined(separator: " "))") }
        return [UInt8](bytes)
    }
}
