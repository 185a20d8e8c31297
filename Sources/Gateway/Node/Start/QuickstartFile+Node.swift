import Settings
import Sockets
import Store
import Wire

extension QuickstartFile {
    /// What this node serves, with the ports that were bound.
    init(
        _ seed: Quickstart, listeners: Listeners, configuration: StagedoorConfiguration, token: Secret?, watchToken: Secret?,
        certificatePath: String?
    ) {
        func url(_ scheme: String, _ address: SocketAddress?, _ path: String = "") -> String? {
            address.map { "\(scheme)://\(StageEndpoints.host(configuration, $0)):\($0.port)\(path)" }
        }
        let rtmp = listeners.rtmp.first?.localAddress
        let http = listeners.publicHTTP.first?.localAddress
        self.init(
            rtmpURL: url("rtmp", rtmp, "/app"), rtmpsURL: url("rtmps", rtmp, "/app"),
            streamKey: seed.ingestConfiguration.streamKey, participantID: seed.ingestConfiguration.participantID,
            adminURL: url("http", listeners.admin?.localAddress), accessKeyID: seed.accessKeyID,
            secretAccessKey: seed.secretAccessKey, region: configuration.platform.region, stageARN: seed.stage.arn,
            stageID: ResourceName.identifier(inARN: seed.stage.arn), caCertificate: certificatePath)
        if let token, !listeners.media.isEmpty {
            (whipURL, whipToken) = (url("http", http, "/whip"), token)
            whipParticipantID = seed.tokenParticipantID
        }
        // The fragment stays in the browser: the token is in no request line and in no log.
        if let watchToken, !listeners.media.isEmpty, configuration.routers.values.contains(where: { $0.driver == .embedded }) {
            watchURL = url("http", http, "/watch/\(stageID)#token=\(watchToken.revealText())")
        }
    }
}
