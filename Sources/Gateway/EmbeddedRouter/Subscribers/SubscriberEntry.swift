import Admission
import EventLoop
import GatewayLogging
import Refusals
import StageHub
import Synchronization
import WebRTCTransport
import Wire

/// One WHEP session as every thread may see it.
final class SubscriberEntry: TransportEntry {
    let transport: TransportState
    let grant: SubscribeGrant
    /// Whom it watches.
    let watched: ParticipantKey
    let offer: SubscriberOffer
    let sources: SubscriberSources
    let initialLayer: InitialLayer
    /// Where its layer is asked for and told of.
    let desk: LayerDesk
    private let context: EmbeddedRouterContext
    private let number = Atomic<UInt64>(0)
    private let presence = Lock(Presence.absent)

    /// Whether the history knows that it watches. Told under the lock: an end from another thread comes after the beginning.
    private enum Presence {
        case absent, told, over
    }

    /// What the POST asked for.
    struct LayerRequest {
        var wish = LayerWish.automatic
        var initial = InitialLayer.lowest
    }

    init(
        transport: TransportState, grant: SubscribeGrant, watched: ParticipantKey, offer: SubscriberOffer,
        sources: SubscriberSources, layer: LayerRequest, context: EmbeddedRouterContext
    ) {
        (self.transport, self.grant, self.watched) = (transport, grant, watched)
        (self.offer, self.sources, self.context) = (offer, sources, context)
        initialLayer = layer.initial
        desk = LayerDesk(wish: layer.wish, mediaIndex: offer.sections.firstIndex { $0.kind == .video })
    }

    var purpose: TransportPurpose { .subscribe }
    /// Who watches, however many sessions it has.
    var viewer: ParticipantKey { grant.participant }
    private var watching: Watching { Watching(grant, watches: watched.participantID) }

    /// The number of its place among the subscribers, given once.
    var place: UInt64 {
        get { number.load(ordering: .relaxed) }
        set { number.store(newValue, ordering: .relaxed) }
    }

    func reached(_ step: TransportStep, peer: SocketAddress) {
        guard case .handshakeDone = step else { return }
        context.subscribers.settle(place)
        SubscriberLog.connected(self, peer: peer)
        presence.withLock { presence in
            guard presence == .absent else { return }
            presence = .told
            context.reports?.watchStarted(watching)
        }
    }

    func checkRejected() {}

    func finish(_ reason: SessionEnd) {
        desk.end()
        presence.withLock { presence in
            if presence == .told { context.reports?.watchStopped(watching) }
            presence = .over
        }
        context.finish(self, reason)
    }
}

/// Our sources toward one subscriber, chosen at random for its session (RFC 3550 §8.1).
struct SubscriberSources: Sendable, Equatable {
    var video: UInt32
    /// Of video sent again (RFC 4588 §4).
    var retransmission: UInt32
    var audio: UInt32
}

/// One line per change of a subscriber's session; never called for media.
enum SubscriberLog {
    static func connected(_ entry: SubscriberEntry, peer: SocketAddress) {
        Log.event(
            .info, "whep_connected",
            [
                "session": .string(entry.transport.id), "stage": .string(entry.watched.stageID),
                "participant": .string(entry.watched.participantID), "subscriber": .string(entry.grant.participantID),
                "peer": .address(peer), "worker": .integer(entry.transport.worker ?? -1),
            ])
    }

    static func ended(_ entry: SubscriberEntry, _ reason: SessionEnd) {
        Log.event(
            .info, "whep_ended",
            [
                "session": .string(entry.transport.id), "participant": .string(entry.watched.participantID),
                "reason": .string(word(reason)),
            ])
    }

    private static func word(_ reason: SessionEnd) -> String {
        switch reason {
        case .closed: "closed"
        case .connectionLost: "connection lost"
        case .refused(let refusal): refusal.text
        case .takenOver: "taken over"
        case .shutdown: "shutdown"
        }
    }
}
