import Foundation
import Synchronization
import Testing

/// Sample media made by ffmpeg from test patterns, kept in .build/clips under a hash of its recipe.
struct Clip: Sendable, CustomTestStringConvertible {
    var name: String
    var video = "testsrc2=s=1280x720:r=30"
    var audio = "sine=f=440:r=48000"
    var seconds = 6
    var profile = "baseline"
    var bFrames = 0
    var keyInterval = 60
    var bitrate = "600k"
    var x264 = ""
    var audioCodec = ["-c:a", "aac", "-b:a", "96k", "-ac", "2"]

    var testDescription: String { name }

    static let p30 = Clip(name: "720p30")
    static let p60 = Clip(name: "720p60", video: "testsrc2=s=1280x720:r=60", keyInterval: 120)
    static let portrait = Clip(name: "portrait", video: "testsrc2=s=720x1280:r=30")
    static let slices = Clip(name: "4 slices", x264: "slices=4:aud=1")
    static let mono44 = Clip(
        name: "44.1 kHz mono", audio: "sine=f=440:r=44100", audioCodec: ["-c:a", "aac", "-b:a", "96k", "-ac", "1"])
    static let long = Clip(name: "22 s", video: "testsrc2=s=640x360:r=30", seconds: 22, bitrate: "200k")
    /// 2.5 Mbit/s, as the figures are made with.
    static let full = Clip(
        name: "2.5 Mbit/s", video: "testsrc2=s=1280x720:r=30,noise=alls=10:allf=t:all_seed=7", seconds: 10, bitrate: "2500k",
        audioCodec: ["-c:a", "aac", "-b:a", "128k", "-ac", "2"])
    /// White for 100 ms at every full second, with a beep that begins and ends with it.
    static func flashAndBeep(sampleRate: Int, channels: Int) -> Clip {
        Clip(
            name: "flash and beep, \(sampleRate) Hz, \(channels) ch",
            video: "color=black:s=640x360:r=30,drawbox=t=fill:c=white:enable='lt(mod(t\\,1)\\,0.1)'",
            audio: "aevalsrc='if(lt(mod(t\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0)':s=\(sampleRate)", seconds: 10,
            audioCodec: ["-c:a", "aac", "-b:a", "96k", "-ac", "\(channels)"])
    }

    /// The FLV file; made the first time it is asked for.
    func file() throws -> String {
        try ClipCache.file(recipe) { _ = try ProgramRun.output(of: recipe + [$0.path], within: .seconds(120)) }.path
    }

    private var recipe: [String] {
        var recipe = ["ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-y", "-fflags", "+bitexact"]
        recipe += ["-f", "lavfi", "-i", video]
        recipe += ["-f", "lavfi", "-i", audio, "-t", "\(seconds)"]
        recipe += ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-profile:v", profile, "-bf", "\(bFrames)"]
        recipe += ["-g", "\(keyInterval)", "-keyint_min", "\(keyInterval)", "-sc_threshold", "0"]
        recipe += ["-b:v", bitrate, "-maxrate", bitrate, "-bufsize", bitrate]
        if !x264.isEmpty { recipe += ["-x264-params", x264] }
        return recipe + audioCodec + ["-flags:v", "+bitexact", "-flags:a", "+bitexact", "-f", "flv"]
    }
}

/// Media that tests make and share, kept in .build/clips under a hash of its recipe.
enum ClipCache {
    /// The file of a recipe; `make` writes it the first time it is asked for, and who asks meanwhile waits.
    static func file(_ recipe: [String], suffix: String = ".flv", make: (URL) throws -> Void) throws -> URL {
        let (file, made) = (try place(of: recipe, suffix: suffix), try place(of: [UUID().uuidString], suffix: suffix))
        let turn = lock(of: file)
        turn.lock()
        defer { turn.unlock() }
        guard !FileManager.default.fileExists(atPath: file.path) else { return file }
        try make(made)
        // Another process may have made it meanwhile.
        _ = try? FileManager.default.moveItem(at: made, to: file)
        return file
    }

    private static let locks = Mutex<[URL: NSLock]>([:])

    private static func lock(of file: URL) -> NSLock {
        locks.withLock { locks in
            let lock = locks[file] ?? NSLock()
            locks[file] = lock
            return lock
        }
    }

    private static func place(of recipe: [String], suffix: String) throws -> URL {
        let folder = Workspace.package.appending(path: ".build/clips")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: hash(recipe) + suffix)
    }

    /// FNV-1a: the same name in every process.
    private static func hash(_ recipe: [String]) -> String {
        let value = recipe.joined(separator: "\n").utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(value, radix: 16)
    }
}
