public import WebRTCTransport

/// The WHIP publishers of one worker. Confined to its loop; give it to the worker's `MediaPort` as maker for `.publish`.
public final class WHIPSessions: TransportSessionMaker {
    /// The contract, and the way to routers. Set it before the loop runs.
    public weak var host: (any WHIPPublishHost)?

    public init(port: MediaPort) {
        port.sessionMakers[.publish] = self
    }

    public func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession {
        guard let entry = entry as? SessionEntry else { preconditionFailure("only WHIP makes entries that publish") }
        return WHIPSession(entry: entry, transport: transport, sessions: self)
    }
}
