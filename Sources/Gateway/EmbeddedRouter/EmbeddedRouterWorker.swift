import Admission
import EventLoop
import Refusals
import Settings
public import StageHub
public import WebRTCTransport
import Wire

/// One worker's part of the embedded router: taps of the publications it owns, and its subscribers. Confined to its loop.
public final class EmbeddedRouterWorker: TransportSessionMaker {
    let plane: EmbeddedRouterPlane
    private let loop: EventLoop
    private let index: Int
    private var mailbox: Mailbox<RouterMessage>?
    private var taps: [UInt64: PublisherTap] = [:]
    private var watched: [WatchedKey: WatchedParticipant] = [:]
    private var sweeper: TimerWatch?
    /// Where packets are written and protected before they are sent.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchByteCount, alignment: 16)

    /// Makes the sessions of `port`'s subscribers from now on.
    public init(port: MediaPort, plane: EmbeddedRouterPlane) throws {
        (self.plane, loop, index) = (plane, port.loop, port.index)
        let mailbox = try Mailbox<RouterMessage>(loop: loop, priority: .media) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        plane.doors[index].open(mailbox.sender)
        port.sessionMakers[.subscribe] = self
    }

    deinit { scratch.deallocate() }

    /// A publication of this worker began: subscribers may watch it.
    public func publishBegan(_ publication: Publication) {
        let key = WatchedKey(stageID: publication.grant.stageID, participantID: publication.grant.participantID)
        let live = LiveTap(number: plane.nextNumber(), key: key, worker: index)
        let tap = PublisherTap(live, of: publication, plane: plane) { [unowned self] in taps[$0.live.number] = nil }
        taps[live.number] = tap
        publication.add(tap)
        publication.announced()
        plane.taps.add(live)
        for door in plane.doors { door.send(.began(live)) }
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
        if participant.feed == nil {
            if let tap = plane.taps[key] { follow(tap, participant) } else { startSweeping() }
        } else {
            requestKeyframe(of: participant)
        }
    }

    func detach(_ session: SubscriberSession) {
        guard let participant = watched[session.entry.watched] else { return }
        participant.remove(session)
        if participant.sessions.isEmpty { stopWatching(participant) }
    }

    func requestKeyframe(for session: SubscriberSession) {
        if let participant = watched[session.entry.watched] { requestKeyframe(of: participant) }
    }

    /// The packet with the publisher's number, when it is still kept.
    func kept(_ number: Int64, for session: SubscriberSession) -> (block: MediaBlock, packet: MediaBlock.Packet)? {
        watched[session.entry.watched]?.store.find(number)
    }

    private func follow(_ tap: LiveTap, _ participant: WatchedParticipant) {
        let feed = MediaFeed(to: plane.doors[index])
        participant.follow(tap, by: feed)
        plane.doors[tap.worker].send(.subscribe(tap, feed))
    }

    private func stopWatching(_ participant: WatchedParticipant) {
        watched[participant.key] = nil
        guard let tap = participant.tap, let feed = participant.feed else { return }
        plane.doors[tap.worker].send(.unsubscribe(tap, feed))
    }

    private func requestKeyframe(of participant: WatchedParticipant) {
        guard let tap = participant.tap else { return }
        plane.doors[tap.worker].send(.keyframeWanted(tap))
    }

    // MARK: - Other workers

    private func receive(_ message: RouterMessage) {
        switch message {
        case .media:
            plane.doors[index].looked()
            let now = loop.now
            for participant in watched.values { participant.drain(at: now) }
        case .subscribe(let tap, let feed):
            guard let tap = taps[tap.number] else { return feed.end() }
            tap.add(feed, at: loop.now)
        case .unsubscribe(let tap, let feed): taps[tap.number]?.remove(feed)
        case .keyframeWanted(let tap): taps[tap.number]?.requestKeyframe(at: loop.now)
        case .began(let tap):
            guard let participant = watched[tap.key], participant.tap != tap else { return }
            if let former = participant.tap, let feed = participant.feed {
                plane.doors[former.worker].send(.unsubscribe(former, feed))
            }
            follow(tap, participant)
        case .ended(let feed): ended(feed)
        }
    }

    private func ended(_ feed: MediaFeed) {
        guard let participant = watched.values.first(where: { $0.feed === feed }) else { return }
        participant.drain(at: loop.now)
        participant.loseFeed(at: loop.now)
        if let tap = plane.taps[participant.key] { follow(tap, participant) } else { startSweeping() }
    }

    // MARK: - Time

    /// Who waits for somebody that does not come back is let go.
    private func startSweeping() {
        guard sweeper == nil else { return }
        sweeper = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in sweep() }
    }

    private func sweep() {
        let now = loop.now
        let absent = watched.values.filter { $0.absentSince != nil }
        for participant in absent where now - (participant.absentSince ?? now) > plane.settings.absence {
            for session in participant.sessions { session.end(.connectionLost) }
        }
        if !watched.values.contains(where: { $0.absentSince != nil }) { sweeper = nil }
    }

    private static let scratchByteCount = 2_048
}
