/// Why a session ended, and with it the publication that it fed.
public enum SessionEnd: Sendable, Equatable {
    /// By its own peer: FCUnpublish, deleteStream, DELETE, DTLS closed.
    case closed
    /// Nothing genuine came any more.
    case connectionLost
    case refused(Refusal)
    case takenOver
    case shutdown

    /// As the log and the metrics of publishes name it.
    public var name: String {
        switch self {
        case .closed: "unpublished"
        case .connectionLost: "connection_lost"
        case .refused: "refused"
        case .takenOver: "taken_over"
        case .shutdown: "shutdown"
        }
    }
}
