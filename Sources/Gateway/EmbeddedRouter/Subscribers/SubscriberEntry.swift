import Admission
import Refusals
import Synchronization
import WebRTCTransport
import Wire

/// One WHEP session as every thread may see it.
final class SubscriberEntry: TransportEntry {
    let transport: TransportState
    let grant: SubscribeGrant
    /// Whom it watches.
    let watched: WatchedKey
    let offer: SubscriberOffer
    let sources: SubscriberSources
    private let plane: EmbeddedRouterPlane
    private let number = Atomic<UInt64>(0)

    init(
        transport: TransportState, grant: SubscribeGrant, watched: WatchedKey, offer: SubscriberOffer,
        sources: SubscriberSources, plane: EmbeddedRouterPlane
    ) {
        (self.transport, self.grant, self.watched) = (transport, grant, watched)
        (self.offer, self.sources, self.plane) = (offer, sources, plane)
    }

    var purpose: TransportPurpose { .subscribe }

    /// The number of its place among the subscribers, given once.
    var place: UInt64 {
        get { number.load(ordering: .relaxed) }
        set { number.store(newValue, ordering: .relaxed) }
    }

    func reached(_ step: TransportStep, peer: SocketAddress) {
        guard case .handshakeDone = step else { return }
        plane.subscribers.settle(place)
        SubscriberLog.connected(self, peer: peer)
    }

    func checkRejected() {}
    func finish(_ reason: SessionEnd) { plane.finish(self, reason) }
}

/// Our sources toward one subscriber, chosen at random for its session (RFC 3550 §8.1).
struct SubscriberSources: Sendable, Equatable {
    var video: UInt32
    /// Of video sent again (RFC 4588 §4).
    var retransmission: UInt32
    var audio: UInt32
}
