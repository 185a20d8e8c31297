import EventLoop

/// Channels that are listened to, on a connection of its own that comes back by itself. Dropping it ends it.
///
/// Pub/sub keeps nothing for who was away: whoever must not miss a message reads what it is about after each `.listening`,
/// because what is published from then on arrives, and what was published before has its effect in what is read.
public final class RedisSubscription {
    /// What has become of it.
    public enum Change: Equatable, Sendable {
        /// Every channel is being listened to, for the first time or again: read now what may have been missed.
        case listening
        /// Messages may be missed from now on. Follows each `.listening` once.
        case deaf(RedisFault)
    }

    /// Whether messages published now would be heard.
    public private(set) var isListening = false

    private let channels: [String]
    private let link: Link
    private let onChange: (Change) -> Void
    private let onMessage: (_ channel: String, _ payload: [UInt8]) -> Void

    init(
        to channels: [String], over link: Link, onChange: @escaping (Change) -> Void,
        onMessage: @escaping (_ channel: String, _ payload: [UInt8]) -> Void
    ) {
        precondition(!channels.isEmpty, "somebody listens to something")
        (self.channels, self.link, self.onChange, self.onMessage) = (channels, link, onChange, onMessage)
        link.onUp = { [unowned self] in subscribe() }
        link.onAway = { [unowned self] in wentAway($0) }
        link.start()
    }

    deinit { close() }

    /// Ends it; no handler is called any more.
    public func close() {
        (link.onUp, link.onAway) = ({}, { _ in })
        isListening = false
        link.close()
    }

    /// Moves to one of these servers, unless it listens to one of them.
    func serversChanged(to servers: [RedisEndpoint]) { link.serversChanged(to: servers) }

    private func subscribe() {
        guard let connection = link.connection else { return }
        connection.onMessage = onMessage
        connection.send(channels.map { RedisCommand("SUBSCRIBE", RedisArgument($0)) }) { [weak self, weak connection] replies in
            guard let self, let connection, connection === link.connection else { return }
            for case .failure(let error) in replies {
                guard case .refused(let refusal) = error else { return }
                return link.lookAgain(because: .refused(connection.remoteAddress, refusal))
            }
            isListening = true
            onChange(.listening)
        }
    }

    private func wentAway(_ fault: RedisFault) {
        guard isListening else { return }
        isListening = false
        onChange(.deaf(fault))
    }
}
