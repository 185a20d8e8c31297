import Admission
import GatewayLogging
import GatewayMetrics
import MediaContract
import Settings

/// The rules of the media contract, and where warnings go, for every thread.
struct SharedContract: Sendable {
    let context: ContractContext
    let warnings: ContractWarnings

    init(_ settings: ContractSettings, metrics: MetricsRegistry) {
        (context, warnings) = (ContractContext(rules: settings), ContractWarnings(metrics))
    }
}

/// Where warnings of the contract become visible: the log, and a counter per rule.
struct ContractWarnings: Sendable {
    private let counters: [String: Counter]

    init(_ metrics: MetricsRegistry) {
        counters = Dictionary(
            uniqueKeysWithValues: ContractRule.allCases.map { rule in
                let help = "Rules of the media contract that streams broke and were only warned for."
                return (rule.rawValue, metrics.counter("stagedoor_contract_warnings_total", help, ["rule": rule.rawValue]))
            })
    }

    func note(_ warning: ContractWarning, _ grant: PublishGrant) {
        counters[warning.fault.rule.rawValue]?.increment()
        Log.event(
            .warning, "contract_warning",
            [
                "participant": .string(grant.participantID), "rule": .string(warning.fault.rule.rawValue),
                "sentence": .string(warning.sentence),
            ])
    }
}
