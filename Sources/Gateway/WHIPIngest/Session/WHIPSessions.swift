public import StageHub
public import WebRTCTransport

/// The WHIP publishers of one worker. Confined to its loop; give it to the worker's `MediaPort` as maker for `.publish`.
public final class WHIPSessions: TransportSessionMaker {
    private unowned let port: MediaPort
    /// The contract, and the way to routers. Set it before the loop runs.
    public weak var host: (any WHIPPublishHost)?

    public init(port: MediaPort) {
        self.port = port
        port.sessionMakers[.publish] = self
    }

    public func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession {
        guard let entry = entry as? SessionEntry else { preconditionFailure("only WHIP makes entries that publish") }
        return WHIPSession(entry: entry, transport: transport, sessions: self)
    }

    /// A router has answered the announce of a publication of ours: the last step of its session's story.
    public func announced(_ publication: Publication) {
        for case let session as WHIPSession in port.liveSessions(.publish) where session.publication === publication {
            session.entry.note(.announced)
        }
    }
}
