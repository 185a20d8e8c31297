extension RouterControl {
    /// What happened, for log, events and metrics.
    public enum Story: Sendable, Equatable {
        case announced(participantID: String, router: String, generation: UInt64)
        case announceFailed(participantID: String, router: String, AnnounceFailure)
        case died(router: String)
        case returned(router: String)
        /// No router can take the stage now; it is tried again every second.
        case noRouter(stageID: String)
        case lost(participantID: String, router: String)
    }
}
