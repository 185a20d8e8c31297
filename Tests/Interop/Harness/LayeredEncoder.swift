import Foundation
import Testing

extension Clip {
    /// One picture in three sizes, with keyframes together: what an encoder makes layers of.
    static let layers = [(1_280, 720, "1500k"), (640, 360, "500k"), (320, 180, "150k")].map { width, height, bitrate in
        Clip(name: "layer of \(height) lines", video: "testsrc2=s=\(width)x\(height):r=30", bitrate: bitrate)
    }
}

/// Encoders that publish layers, best first.
extension Encoder {
    /// WHIP simulcast shaped like OBS', with rids 0, 1 and 2 and all that libdatachannel does wrong with them: a request for a
    /// lower layer's packet is answered with the top layer's, reports tell of the top layer alone, keyframes come when they come.
    ///
    /// Its last line is the report of `stagedoor-bench`.
    /// - Parameter options: of `stagedoor-bench whip`, such as `["--loss", "2", "--rest", "0:5-10"]`.
    static func simulcast(
        _ layers: [Clip] = Clip.layers, to gateway: Gateway, seconds: Int, options: [String] = []
    ) throws -> ProgramRun {
        try ProgramRun(
            [
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                try #require(gateway.quickstart.whipToken), "--seconds", "\(seconds)", "--fault", "crossed-requests", "--fault",
                "one-report",
            ] + files(layers) + options)
    }

    /// Enhanced RTMP multitrack as OBS sends it: the first layer as ever, each other one in messages of one track.
    /// - Parameter options: of `stagedoor-bench rtmp`.
    static func multitrack(
        _ layers: [Clip] = Clip.layers, to gateway: Gateway, seconds: Int, options: [String] = []
    ) throws -> ProgramRun {
        try multitrack(
            layers, to: "\(gateway.quickstart.rtmpURL)/\(gateway.quickstart.streamKey)", seconds: seconds, options: options)
    }

    /// - Parameter url: with the stream key behind its last slash.
    static func multitrack(
        _ layers: [Clip] = Clip.layers, to url: String, seconds: Int, options: [String] = []
    ) throws -> ProgramRun {
        let slash = try #require(url.lastIndex(of: "/"))
        return try ProgramRun(
            [
                try Workspace.program("stagedoor-bench"), "rtmp", String(url[..<slash]), "--key",
                String(url[url.index(after: slash)...]), "--seconds", "\(seconds)",
            ] + files(layers) + options)
    }

    /// Chromium with the rids h, m and l, each of half the size of the one before.
    static func chromium(layers count: Int = 3, to gateway: Gateway, seconds: Int) throws -> ProgramRun {
        let page = try #require(gateway.quickstart.whipURL).replacing(/\/whip$/, with: "/publish")
        let script = Workspace.package.appending(path: "Tests/Interop/Clients/browser_whip.py").path
        return try ProgramRun([
            "env", "LAYERS=\(count)", Interop.WHIP.python, script, "\(seconds)", page, try #require(gateway.quickstart.whipToken),
            "camera",
        ])
    }

    private static func files(_ layers: [Clip]) throws -> [String] { try layers.flatMap { ["--flv", try $0.file()] } }
}

/// One layer of a live session, as `GET /v1/sessions` tells it.
struct ToldLayer: Decodable {
    var name: String
    var rid: String
    var width: Int
    var height: Int
    var framesPerSecond: Double
    var bitsPerSecond: Int
    var active: Bool
}

/// What all tracks of a live session have come to, as `GET /v1/sessions` tells it.
struct ToldTotals: Decodable {
    var lostPackets: Int
    var recoveredPackets: Int
}

extension Gateway {
    private struct LiveSessions: Decodable {
        struct Session: Decodable {
            var layers: [ToldLayer]
            var totals: ToldTotals
        }

        var live: [Session]
    }

    private func liveSessions() throws -> [LiveSessions.Session] {
        try JSONDecoder().decode(LiveSessions.self, from: Data(try signedAdmin("v1/sessions").utf8)).live
    }

    /// Those of the session that is live, best first; none while there is none.
    func liveLayers() throws -> [ToldLayer] { try liveSessions().first?.layers ?? [] }

    /// Those of all sessions that are live.
    func everyLayer() throws -> [ToldLayer] { try liveSessions().flatMap(\.layers) }

    /// Of all sessions that are live.
    func liveTotals() throws -> [ToldTotals] { try liveSessions().map(\.totals) }
}
