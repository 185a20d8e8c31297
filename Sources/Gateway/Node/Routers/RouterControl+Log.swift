import GatewayLogging
import RouterForwarding

extension RouterControl.Story {
    /// Writes what happened into the log.
    func log() {
        switch self {
        case .announced(let participantID, let router, let generation):
            Log.event(
                .info, "router_announced",
                [
                    "participant": .string(participantID), "router": .string(router),
                    "generation": .integer(Int(clamping: generation)),
                ])
        case .announceFailed(let participantID, let router, let failure):
            Log.event(
                .warning, "router_announce_failed",
                ["participant": .string(participantID), "router": .string(router), "reason": .string(failure.words)])
        case .died(let router): Log.event(.error, "router_died", ["router": .string(router)])
        case .returned(let router): Log.event(.info, "router_returned", ["router": .string(router)])
        case .noRouter(let stageID): Log.event(.error, "router_missing", ["stage": .string(stageID)])
        case .lost(let participantID, let router):
            Log.event(.warning, "router_lost_participant", ["participant": .string(participantID), "router": .string(router)])
        }
    }
}

extension AnnounceFailure {
    fileprivate var words: String {
        switch self {
        case .noAnswer: "no whole answer within 2 s"
        case .refused(let status): "it answered \(status)"
        case .staleGeneration: "it holds a higher generation"
        case .unacceptable(let reason): reason
        }
    }
}
