import GatewayConfiguration
import Sockets
import Store
import Wire

extension QuickstartFile {
    /// What this node serves, with the ports that were bound.
    init(
        _ seed: Quickstart, listeners: Listeners, configuration: StagedoorConfiguration, token: Secret?, certificatePath: String?
    ) {
        let rtmp = listeners.rtmp.first?.localAddress
        let admin = listeners.admin?.localAddress
        self.init(
            rtmpURL: rtmp.map { "rtmp://\(Self.host($0)):\($0.port)/app" },
            rtmpsURL: rtmp.map { "rtmps://\(Self.host($0)):\($0.port)/app" },
            streamKey: seed.ingestConfiguration.streamKey, participantID: seed.ingestConfiguration.participantID,
            adminURL: admin.map { "http://\(Self.host($0)):\($0.port)" }, accessKeyID: seed.accessKeyID,
            secretAccessKey: seed.secretAccessKey, region: configuration.platform.region, stageARN: seed.stage.arn,
            stageID: ResourceName.identifier(inARN: seed.stage.arn), caCertificate: certificatePath)
        if let http = listeners.publicHTTP.first?.localAddress, let token {
            whipURL = "http://\(Self.host(http)):\(http.port)/whip"
            (whipToken, whipParticipantID) = (token, seed.tokenParticipantID)
        }
    }

    /// A listener on all addresses is reached at loopback from this machine.
    private static func host(_ address: SocketAddress) -> String {
        if address.ip.isUnspecified { return "127.0.0.1" }
        return address.ip.isV4 ? address.ip.description : "[\(address.ip)]"
    }
}
