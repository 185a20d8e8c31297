import ClientConfiguration
import JSON
import Settings
import Sockets
import Store
import Wire

/// What `DIR/quickstart.json` says (docs/design.md 2.2). A member whose feature is off is absent; the URLs carry no key.
struct QuickstartFile {
    var whipURL: String?
    var whipToken: Secret?
    var whipParticipantID: String?
    var rtmpURL: String?
    var rtmpsURL: String?
    var streamKey: Secret
    var participantID: String
    var adminURL: String?
    /// Where a browser sets up what the AWS CLI can.
    var consoleURL: String?
    var accessKeyID: String?
    var secretAccessKey: Secret?
    var region: String
    var stageARN: String
    var stageID: String
    /// With the token that watches in its fragment.
    var watchURL: String?
    var caCertificate: String?
    /// That recordings can be written to; absent where the configuration has buckets of its own.
    var bucketName: String?
    /// For *Config Override* of OBS; holds the stream key.
    var obsConfigOverride: JSONObject?

    var json: [UInt8] {
        let members: [(String, String?)] = [
            ("whipURL", whipURL), ("whipToken", whipToken?.revealText()), ("whipParticipantId", whipParticipantID),
            ("rtmpURL", rtmpURL), ("rtmpsURL", rtmpsURL), ("streamKey", streamKey.revealText()),
            ("participantId", participantID), ("adminURL", adminURL), ("consoleURL", consoleURL), ("accessKeyId", accessKeyID),
            ("secretAccessKey", secretAccessKey?.revealText()), ("region", region), ("stageArn", stageARN),
            ("stageId", stageID), ("watchURL", watchURL), ("caCertificate", caCertificate), ("bucketName", bucketName),
        ]
        var object = JSONObject(members.compactMap { name, value in value.map { (name, .string($0)) } })
        object["obsConfigOverride"] = obsConfigOverride.map { .object($0) }
        return JSONValue.object(object).serialized() + [10]
    }

    /// Lines to copy, for a terminal. They hold the key and the token, which is why they go to standard output and to no log.
    var guide: String {
        let head = ["Stagedoor is ready: stage `demo`, everything below works from this machine.", ""]
        let watch = watchURL.map { ["Watch           \($0)", ""] } ?? []
        let lines: [String] = head + rtmpLines + whipLines + adminLines + watch
        return lines.joined(separator: "\n")
    }

    private var rtmpLines: [String] {
        var lines: [String] = []
        if let server = rtmpURL ?? rtmpsURL { lines += obsLines(server) }
        if let rtmpURL {
            lines += ["ffmpeg, RTMP    \(Self.ffmpeg) -f flv '\(rtmpURL)/\(streamKey.revealText())'", ""]
        }
        if let rtmpsURL {
            let trust = caCertificate.map { " -tls_verify 1 -ca_file '\($0)'" } ?? ""
            lines += ["ffmpeg, RTMPS   \(Self.ffmpeg) -f flv\(trust) '\(rtmpsURL)/\(streamKey.revealText())'", ""]
        }
        return lines
    }

    private func obsLines(_ server: String) -> [String] {
        var lines = ["OBS (Custom…)   Server \(server)   Stream Key \(streamKey.revealText())"]
        if let obsConfigOverride {
            let json = String(decoding: JSONValue.object(obsConfigOverride).serialized(), as: UTF8.self)
            lines += ["                Enable Multitrack Video, Enable Config Override (OBS 32.0.1 and later), and paste there:"]
            // Indented: lines that begin with a brace are the log's.
            lines += ["                \(json)"]
        }
        return lines + [
            "                or by hand: x264, Profile baseline, Keyframe 2 s, x264 Options bframes=0; 1280x720 at most", "",
        ]
    }

    private var whipLines: [String] {
        guard let whipURL, let token = whipToken?.revealText() else { return [] }
        return [
            "OBS (WHIP)      Server \(whipURL)   Bearer Token \(token)", "",
            "ffmpeg 8, WHIP  \(Self.ffmpegOpus) -f whip -authorization \(token) '\(whipURL)'", "",
        ]
    }

    private var adminLines: [String] {
        guard let adminURL, let accessKeyID, let secret = secretAccessKey?.revealText() else { return [] }
        let console = consoleURL.map {
            ["Console         \($0)   Access key id \(accessKeyID)   Secret access key \(secret)", ""]
        }
        return (console ?? []) + [
            "AWS CLI         AWS_ACCESS_KEY_ID=\(accessKeyID) AWS_SECRET_ACCESS_KEY=\(secret) \\",
            "                aws ivs-realtime list-stages --region \(region) --endpoint-url \(adminURL)", "",
        ]
    }

    private static let video =
        "-re -f lavfi -i testsrc2=s=1280x720:r=30 -f lavfi -i sine=f=440:r=48000 -c:v libx264 -profile:v baseline -bf 0 -g 60"
        + " -b:v 2500k -preset veryfast -tune zerolatency -pix_fmt yuv420p -ac 2"
    private static let ffmpeg = "ffmpeg \(video) -c:a aac -b:a 128k"
    private static let ffmpegOpus = "ffmpeg \(video) -c:a libopus -b:a 96k"
}

extension QuickstartFile {
    /// What this node serves, with the ports that were bound.
    init(
        _ seed: Quickstart, listeners: Listeners, configuration: StagedoorConfiguration, token: Secret?, watchToken: Secret?,
        certificatePath: String?, setup: StageSetup
    ) {
        func url(_ scheme: String, _ address: SocketAddress?, _ path: String = "") -> String? {
            address.map { "\(scheme)://\(StageEndpoints.host(configuration, $0)):\($0.port)\(path)" }
        }
        let rtmp = listeners.rtmp.first?.localAddress
        let shared = listeners.sharedAddress(configuration.advertise)
        let http = listeners.publicHTTP.first?.localAddress
        func web(_ path: String) -> String? { url("http", http, path) ?? url("https", shared, path) }
        self.init(
            rtmpURL: url("rtmp", rtmp, "/app"), rtmpsURL: url("rtmps", shared ?? rtmp, "/app"),
            streamKey: seed.ingestConfiguration.streamKey, participantID: seed.ingestConfiguration.participantID,
            adminURL: url("http", listeners.admin?.localAddress),
            consoleURL: url("http", listeners.admin?.localAddress, "/"), accessKeyID: seed.accessKeyID,
            secretAccessKey: seed.secretAccessKey, region: configuration.platform.region, stageARN: seed.stage.arn,
            stageID: ResourceName.identifier(inARN: seed.stage.arn), caCertificate: certificatePath,
            bucketName: QuickstartDefaults.bucketName(in: configuration))
        if rtmpURL != nil || rtmpsURL != nil {
            obsConfigOverride = setup.override(
                forIngestConfiguration: ResourceName.identifier(inARN: seed.ingestConfiguration.arn))
        }
        if let token, !listeners.media.isEmpty {
            (whipURL, whipToken) = (web("/whip"), token)
            whipParticipantID = seed.tokenParticipantID
        }
        let isWatchable = !listeners.media.isEmpty && configuration.routers.values.contains { $0.driver == .embedded }
        // The fragment stays in the browser: the token is in no request line and in no log.
        if let watchToken, isWatchable { watchURL = web("/watch/\(stageID)#token=\(watchToken.revealText())") }
    }
}
