import Foundation
import Testing

extension Clip {
    /// Pictures that bear their number as 24 bars, the highest bit first, over a flash at every full second; a tone on the left,
    /// a beep with each flash on the right. Long, since picture and sound do not end together where it begins anew.
    static let counted = Clip(
        name: "counted",
        // The bars are made as 24 pixels: evaluating each of a whole picture took a minute and a half.
        video: """
            color=black:s=24x2:r=30,geq=cb=128:cr=128:lum='16+210*mod(floor(N/pow(2,23-X)),2)',\
            scale=312:48:flags=neighbor,pad=320:180:4:0,\
            drawbox=y=48:h=132:t=fill:c=white:enable='lt(mod(n,30),3)'
            """,
        audio: "aevalsrc='0.3*sin(2*PI*440*t)|if(lt(mod(t,1),0.1),0.5*sin(2*PI*1000*t),0)':s=48000",
        seconds: 160, keyInterval: 30, bitrate: "150k")
}

extension Clip {
    /// Its file with the moment at which each keyframe was composed, as OBS tells it.
    static func composed() throws -> String { try changed(counted, by: "bpm_clip.py", ["--composed"]) }

    /// Its file with the timecode of each keyframe, from 12:00:00:15 on, 30 pictures a second.
    static func timecoded() throws -> String {
        var clip = counted
        (clip.video, clip.x264) = ("movie='\(try counted.file())'", "pic-struct=1")
        return try changed(clip, by: "timecode_clip.py", [])
    }

    private static func changed(_ clip: Clip, by script: String, _ options: [String]) throws -> String {
        let program = Workspace.package.appending(path: "Tests/Interop/Clients/\(script)").path
        let source = try clip.file()
        return try ClipCache.file([source, script] + options) { file in
            _ = try ProgramRun.output(of: ["/usr/bin/python3", program, source, file.path] + options, within: .seconds(120))
        }.path
    }
}

/// What became of `Clip.counted`, as a receiver decodes it.
struct CountedMedia {
    struct Picture {
        /// Of its presentation, seconds.
        var time: Double
        /// The clip's, which begins anew with it.
        var number: Int
    }

    var pictures: [Picture]
    /// When each packet of sound is heard, seconds.
    var soundTimes: [Double]
    /// The tone: 48,000 a second.
    var samples: [Int16]

    init(_ file: String) throws {
        let probed = try ProgramRun.output(
            of: [
                "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of", "csv=p=0", file,
            ], within: .seconds(240))
        let times = probed.split(whereSeparator: \.isWhitespace).compactMap { Double($0.split(separator: ",")[0]) }
        let bars = ["-map", "0:v", "-vf", "crop=312:32:4:8,scale=24:1:flags=area,format=gray", "-fps_mode", "passthrough"]
        let luma = try Self.decoded(file, bars + ["-f", "rawvideo"])
        let numbers = stride(from: 0, to: luma.count - 23, by: 24).map { start in
            luma[start..<start + 24].reduce(0) { $0 << 1 | ($1 > 120 ? 1 : 0) }
        }
        #expect(times.count == numbers.count, "\(file)")
        pictures = zip(times, numbers).map(Picture.init)
        soundTimes = try MediaFile.steadyPacketTimes(file, stream: "a:0")
        let tone = try Self.decoded(file, ["-map", "0:a", "-af", "pan=mono|c0=c0", "-f", "s16le"])
        samples = stride(from: 0, to: tone.count - 1, by: 2).map {
            Int16(truncatingIfNeeded: Int(tone[$0]) | Int(tone[$0 + 1]) << 8)
        }
    }

    private static func decoded(_ file: String, _ options: [String]) throws -> [UInt8] {
        let raw = Workspace.temporaryFile(suffix: ".raw")
        let line = ["ffmpeg", "-hide_banner", "-nostdin", "-v", "fatal", "-y", "-i", file] + options + [raw.path]
        _ = try ProgramRun.output(of: line, within: .seconds(240))
        return [UInt8](try Data(contentsOf: raw))
    }

    /// Numbers of pictures that stay for more than a millisecond: of those that lie closer only the last is seen.
    var shown: [Int] {
        let ends = pictures.dropFirst().map(\.time) + [.infinity]
        return zip(pictures, ends).filter { $1 - $0.time > 0.001 }.map(\.0.number)
    }

    /// The widest step from one sample to the next.
    var widestStep: Int { zip(samples, samples.dropFirst()).map { abs(Int($1) - Int($0)) }.max() ?? 0 }

    /// Of the tone itself: 2·A·sin(π·f/rate).
    static let widestOfTone = 2 * amplitude * sin(.pi * 440 / 48_000)

    /// Of a tone that is cut between packets and goes on in any phase, with a tenth for what its coding adds.
    ///
    /// An Opus decoder lays packets over each other for 2.5 ms (RFC 6716 4.3.7): the former fades out by w(119 − n)², the one
    /// that follows fades in by w(n)², and of each what is folded there is not cancelled but comes by w(n)·w(119 − n). A cut
    /// between samples would make steps of up to 2·A, which is twelve times as much.
    static let widestOfCut: Double = {
        func window(_ sample: Int) -> Double {
            (0..<120).contains(sample) ? sin(.pi / 2 * pow(sin(.pi * (Double(sample) + 0.5) / 240), 2)) : sample < 0 ? 0 : 1
        }
        let steps = (-1..<120).map { sample in
            let (before, after) = (window(sample), window(sample + 1))
            let folded = (before * window(119 - sample), after * window(118 - sample))
            let fading = abs(after * after - before * before) + abs(folded.1 - folded.0)
            return 2 * amplitude * fading + widestOfTone * (1 + 2 * max(folded.0, folded.1))
        }
        return 1.1 * (steps.max() ?? 0)
    }()

    private static let amplitude = 0.3 * 32_768

    /// Where a packet of sound does not begin where the one before ends, seconds. Without the first
    /// seconds, in which receivers guess.
    /// - Parameter tolerance: sender reports move all by half a millisecond for each second since the one before them, which on a
    ///   machine that is busy with others is some time ago. A packet that is missing makes 20 ms, one that is not moved up to 10.
    func soundGaps(beyond tolerance: Double = 0.005) -> [Double] {
        zip(soundTimes, soundTimes.dropFirst()).map { $1 - $0 }.dropFirst(150).filter { abs($0 - 0.02) > tolerance }
    }

    /// Pictures of one encoder that follow each other by number and time.
    private struct Stretch {
        let first: Double
        var last: Picture
        var count = 1
        /// When its clip began.
        var origin: Double { last.time - Double(last.number) / 30 }
    }

    /// Without those that are decoded and not seen.
    private var stretches: [Stretch] {
        var all: [Stretch] = []
        for picture in pictures {
            if let last = all.last?.last, last.number + 1 == picture.number, picture.time - last.time > 0.001 {
                all[all.count - 1].last = picture
                all[all.count - 1].count += 1
            } else {
                all.append(Stretch(first: picture.time, last: picture))
            }
        }
        return all.filter { $0.count >= 15 }
    }

    /// How long a beep comes after its flash, or before, in seconds.
    struct Skew {
        /// By the pictures that are shown with it.
        var shown: Double
        /// By those, or those of the encoder before or after: a source's sound may end before its pictures do, and go on sooner.
        var least: Double
    }

    /// A source whose sound stands still is left for that ten seconds after the last switch, and a second after the last sound.
    private static let longestLag = 12.0

    /// Of beeps that follow each other by a second; one that a switch cuts begins with it.
    func skews(_ file: String) throws -> [Skew] {
        let beeps = try MediaFile.flashesAndBeeps(file, sound: "pan=mono|c0=c1").beeps
        let stretches = stretches
        return beeps.indices.compactMap { index -> Skew? in
            let beep = beeps[index]
            let beside = [index - 1, index + 1].filter { beeps.indices.contains($0) }.map { abs(beeps[$0] - beep) }
            guard beside.contains(where: { abs($0 - 1) < 0.005 }) else { return nil }
            guard let shown = stretches.lastIndex(where: { $0.first <= beep }) else { return nil }
            let others = [shown - 1, shown + 1].filter { stretches.indices.contains($0) }.filter { other in
                (other < shown ? beep - stretches[shown].first : stretches[other].first - beep) < Self.longestLag
            }
            let skews = ([shown] + others).map { (beep - stretches[$0].origin).remainder(dividingBy: 1) }
            return Skew(shown: skews[0], least: skews.min { abs($0) < abs($1) } ?? skews[0])
        }
    }
}
