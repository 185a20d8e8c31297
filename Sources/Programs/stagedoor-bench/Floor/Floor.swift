import ArgumentParser
import EventLoop
import Foundation
import Wire

/// `stagedoor-bench floor`: what the same work costs on this machine with nothing around it, to stand beside a server's figures.
///
/// One thread, its own CPU time, system calls and libraries only: what is measured is what no server can avoid. Every figure
/// is the least of the repetitions.
struct Floor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor", abstract: "Measures the least that this machine needs for each job.")

    @Option(help: "FLV file with H.264 and AAC, the one that is published.")
    var flv: String
    @Option(help: "Repetitions of each measurement.")
    var repetitions = 5
    @Option(help: "Opus complexity, as configured at the server.")
    var complexity: Int32 = 1
    @Option(help: "Opus bits per second, as configured at the server.")
    var bitrate: Int32 = 96_000

    /// CPU milliseconds for a stream and second of media, or for one set-up.
    struct Report: Encodable {
        var rtmp = 0.0
        var transcoding = 0.0
        var rtmpTranscoded: Double { rtmp + transcoding }
        var whip: [String: Double] = [:]
        var tokenVerification = 0.0
        var dtlsHandshake = 0.0

        enum CodingKeys: CodingKey { case rtmp, transcoding, rtmpTranscoded, whip, tokenVerification, dtlsHandshake }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(rtmp, forKey: .rtmp)
            try values.encode(transcoding, forKey: .transcoding)
            try values.encode(rtmpTranscoded, forKey: .rtmpTranscoded)
            try values.encode(whip, forKey: .whip)
            try values.encode(tokenVerification, forKey: .tokenVerification)
            try values.encode(dtlsHandshake, forKey: .dtlsHandshake)
        }
    }

    func run() throws {
        let file = try FLVFile(path: flv)
        var report = Report()
        report.rtmp = try least { try RTMPFloor(file).millisecondsPerSecond() }
        report.transcoding = try least {
            try TranscodingFloor(file, bitrate: bitrate, complexity: complexity).millisecondsPerSecond()
        }
        for profile in SRTPFloor.profiles {
            report.whip["\(profile.name), bursts"] = try least { try SRTPFloor(profile.profile).bursts() }
            report.whip["\(profile.name), paced"] = try least { try SRTPFloor(profile.profile).paced() }
        }
        report.tokenVerification = try least { try SetUpFloor.tokenVerification() }
        report.dtlsHandshake = try least { try SetUpFloor.dtlsHandshake() }
        try print(report: report)
    }

    private func least(_ measure: () throws -> Double) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<max(1, repetitions) { least = min(least, try measure()) }
        return least
    }
}

/// CPU time of this thread in the measured parts only.
struct FloorClock {
    private(set) var milliseconds = 0.0

    mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = EventLoop.threadCPU()
        defer { milliseconds += Double((EventLoop.threadCPU() - start).nanoseconds) / 1_000_000 }
        return try body()
    }
}

enum FloorError: Error, CustomStringConvertible {
    case noAudio
    case codec
    case system(String, Int32)

    var description: String {
        switch self {
        case .noAudio: "the file has no AAC"
        case .codec: "a codec could not be opened"
        case .system(let call, let code): "\(call): errno \(code)"
        }
    }
}
