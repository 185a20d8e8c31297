import Admission
public import EventLoop
import Refusals
import Settings
public import StageHub
public import WebRTCTransport
import Wire

/// One worker's part of the embedded router: taps of the publications it owns, and its subscribers. Confined to its loop.
@safe public final class EmbeddedRouterWorker: TransportSessionMaker {
    let context: EmbeddedRouterContext
    private let loop: EventLoop
    private let index: Int
    private var mailbox: Mailbox<RouterMessage>?
    private var taps: [UInt64: PublisherTap] = [:]
    private var watched: [ParticipantKey: WatchedParticipant] = [:]
    private var sweeper: TimerWatch?
    /// Where packets are written and protected before they are sent.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: PeerTransport.maximumDatagramByteCount, alignment: 16)

    /// - Parameter port: its worker's, whose subscribers' sessions it makes once that has it among its `sessionMakers`.
    public init(port: MediaPort, context: EmbeddedRouterContext) throws(SystemError) {
        (self.context, loop, index) = (context, port.loop, port.index)
        let mailbox = try Mailbox<RouterMessage>(loop: loop, priority: .media) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        context.inboxes[index].open(mailbox.sender)
    }

    deinit { unsafe scratch.deallocate() }

    /// A publication of this worker began: subscribers may watch it.
    public func publishBegan(_ publication: Publication) {
        let live = LiveTap(number: context.nextNumber(), key: publication.grant.participant, worker: index)
        let tap = PublisherTap(live, of: publication, context: context) { [unowned self] in taps[$0.live.number] = nil }
        taps[live.number] = tap
        publication.add(tap)
        publication.announced()
        context.taps.add(live)
        for inbox in context.inboxes { inbox.send(.began(live)) }
    }

    public func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession {
        guard let entry = entry as? SubscriberEntry else { preconditionFailure("only WHEP makes entries that subscribe") }
        return SubscriberSession(entry: entry, transport: transport, worker: self)
    }

    // MARK: - Subscribers

    func attach(_ session: SubscriberSession) {
        let key = session.entry.watched
        let participant = watched[key] ?? WatchedParticipant(key: key, now: loop.now)
        watched[key] = participant
        participant.add(session)
        guard participant.feed == nil else { return session.layersChanged(participant.layers) }
        if let tap = context.taps[key] { follow(tap, participant) } else { startSweeping() }
    }

    func detach(_ session: SubscriberSession) {
        guard let participant = watched[session.entry.watched] else { return }
        participant.remove(session)
        if participant.sessions.isEmpty { stopWatching(participant) }
    }

    func requestKeyframe(of layer: TrackID, for session: SubscriberSession) {
        guard let tap = watched[session.entry.watched]?.tap else { return }
        context.inboxes[tap.worker].send(.keyframeWanted(tap, layer))
    }

    /// What a session wants has changed: the publisher's worker copies as much as all want together.
    func wantsChanged(of session: SubscriberSession) { watched[session.entry.watched]?.want() }

    /// The packet with the publisher's number, when it is still kept.
    func kept(
        _ number: Int64, of layer: TrackID, for session: SubscriberSession
    ) -> (block: MediaBlock, packet: MediaBlock.Packet)? {
        watched[session.entry.watched]?.store.find(number, of: layer)
    }

    private func follow(_ tap: LiveTap, _ participant: WatchedParticipant) {
        let feed = MediaFeed(to: context.inboxes[index])
        participant.follow(tap, by: feed)
        context.inboxes[tap.worker].send(.subscribe(tap, feed))
    }

    private func stopWatching(_ participant: WatchedParticipant) {
        watched[participant.key] = nil
        guard let tap = participant.tap, let feed = participant.feed else { return }
        context.inboxes[tap.worker].send(.unsubscribe(tap, feed))
    }

    // MARK: - Other workers

    private func receive(_ message: RouterMessage) {
        switch message {
        case .media:
            context.inboxes[index].looked()
            let now = loop.now
            for participant in watched.values { participant.drain(at: now) }
        case .subscribe(let tap, let feed):
            guard let tap = taps[tap.number] else { return feed.end() }
            tap.add(feed)
        case .unsubscribe(let tap, let feed): taps[tap.number]?.remove(feed)
        case .keyframeWanted(let tap, let layer): taps[tap.number]?.requestKeyframe(of: layer, at: loop.now)
        case .layers(let feed, let layers): participant(of: feed)?.layersChanged(layers)
        case .began(let tap):
            guard let participant = watched[tap.key], participant.tap != tap else { return }
            if let former = participant.tap, let feed = participant.feed {
                context.inboxes[former.worker].send(.unsubscribe(former, feed))
            }
            follow(tap, participant)
        case .ended(let feed): ended(feed)
        }
    }

    private func ended(_ feed: MediaFeed) {
        guard let participant = participant(of: feed) else { return }
        participant.drain(at: loop.now)
        participant.loseFeed(at: loop.now)
        if let tap = context.taps[participant.key] { follow(tap, participant) } else { startSweeping() }
    }

    private func participant(of feed: MediaFeed) -> WatchedParticipant? { watched.values.first { $0.feed === feed } }

    // MARK: - Time

    /// Who waits for somebody that does not come back is let go.
    private func startSweeping() {
        guard sweeper == nil else { return }
        sweeper = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in sweep() }
    }

    private func sweep() {
        let now = loop.now
        let absent = watched.values.filter { $0.absentSince != nil }
        for participant in absent where now - (participant.absentSince ?? now) > context.settings.absence {
            for session in participant.sessions { session.end(.refused(Refusal(.participantNotLive))) }
        }
        if !watched.values.contains(where: { $0.absentSince != nil }) { sweeper = nil }
    }
}

/// The way into one worker's part of the embedded router.
typealias RouterInbox = FeedInbox<RouterMessage>

/// What the publishers' and the subscribers' workers say to each other.
enum RouterMessage: Sendable {
    /// Feeds of yours have blocks.
    case media
    /// To the publisher's worker: the first subscriber on another worker has come; the last has gone.
    case subscribe(LiveTap, MediaFeed)
    case unsubscribe(LiveTap, MediaFeed)
    case keyframeWanted(LiveTap, TrackID)
    /// To the subscribers' worker: the layers of that feed's publication, best first.
    case layers(MediaFeed, [VideoLayer])
    /// To every worker: somebody may have waited for this publication.
    case began(LiveTap)
    /// To the subscribers' worker: nothing more comes by that feed.
    case ended(MediaFeed)
}
