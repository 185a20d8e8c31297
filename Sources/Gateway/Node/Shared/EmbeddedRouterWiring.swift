import Admission
import EmbeddedRouter
import GatewayMetrics
import Settings
import WebRTCTransport

extension SharedWebRTC {
    /// The embedded router's shared part; nil when the configuration names no router with that driver, or there is no media port.
    static func makeEmbeddedRouter(
        _ configuration: StagedoorConfiguration, _ transport: TransportPlane?, authorizer: any SubscribeAuthorizer,
        workerCount: Int, metrics: MetricsRegistry
    ) -> EmbeddedRouterPlane? {
        guard let transport, configuration.routers.values.contains(where: { $0.driver == .embedded }) else { return nil }
        return EmbeddedRouterPlane(
            settings: configuration.embedded, transport: transport, authorizer: authorizer, workerCount: workerCount,
            metrics: EmbeddedRouterMetrics(metrics))
    }
}
