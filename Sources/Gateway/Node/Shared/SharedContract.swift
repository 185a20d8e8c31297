import GatewayMetrics
import MediaContract
import Settings

/// The rules of the media contract and who is told of what broke them, for every thread.
struct SharedContract: Sendable {
    let desk: ContractDesk
    let warnings: ContractWarnings

    init(_ settings: ContractSettings, metrics: MetricsRegistry) {
        (desk, warnings) = (ContractDesk(rules: settings), ContractWarnings(metrics))
    }
}
