import Admission
import EventLoop
import Refusals
import StageHub
import Wire

/// One publication on its way to its routers: collects what the announce needs, and owns the legs. Confined to the worker.
final class ForwardingSession: PublicationObserver {
    enum Event {
        case ready(Announcement)
        case changed(Announcement)
        case feedback(replica: Int, at: MonotonicTime)
        case ended(WithdrawalReason)
    }

    let legs: [RouterLeg]
    private let publication: Publication
    private let socket: RouterSocket
    private let onEvent: (Event) -> Void
    private var muted: Set<TrackID> = []
    private var layerNames = LayerNames()
    /// As we were told last: rates in between are no news for routers.
    private var layers: [VideoLayer] = []
    private var announced: Announcement?
    /// An encoder's parameter sets may differ in every picture, and all publications share the control loop's mailbox.
    private var changes = Allowance(maximumChangesAtOnce, then: feedbackInterval)
    private var waiting: TimerWatch?
    private var watching: TimerWatch?
    private var lastFeedback: [MonotonicTime?]

    init(_ publication: Publication, socket: RouterSocket, replicas: Int, onEvent: @escaping (Event) -> Void) {
        (self.publication, self.socket, self.onEvent) = (publication, socket, onEvent)
        legs = (0..<replicas).map { _ in RouterLeg(publication: publication, socket: socket) }
        lastFeedback = Array(repeating: nil, count: replicas)
    }

    func start() {
        for leg in legs { publication.add(leg) }
        layers = publication.layers
        // What is known already it is told now: so the announce begins.
        publication.add(observer: self)
        watching = socket.loop.schedule(after: Self.feedbackInterval, repeating: Self.feedbackInterval) { [unowned self] in
            tellFeedback()
        }
    }

    // MARK: - PublicationObserver

    func formatChanged(_ track: TrackID, to format: TrackFormat) { considerAnnouncing() }

    func layersChanged() {
        layers = publication.layers
        considerAnnouncing()
    }

    func muteChanged(_ track: TrackID, isMuted: Bool) {
        if isMuted { muted.insert(track) } else { muted.remove(track) }
        considerAnnouncing()
    }

    func ended(_ reason: SessionEnd) {
        (waiting, watching) = (nil, nil)
        onEvent(.ended(WithdrawalReason(reason)))
    }

    // MARK: - The announce

    private func considerAnnouncing() {
        guard !publication.formats.isEmpty else { return }
        guard announced == nil, !isComplete else { return announce() }
        if waiting == nil { waiting = socket.loop.schedule(after: Self.patience) { [unowned self] in announce() } }
    }

    /// Both kinds are known, and how good each layer is.
    private var isComplete: Bool {
        let expected = publication.videoTracks.count
        return Set(publication.formats.keys.map(\.kind)).count == 2 && (expected < 2 || layers.count >= expected)
    }

    private func announce() {
        waiting = nil
        let announcement = announcement()
        guard announcement != announced else { return }
        let isFirst = announced == nil
        // One too many is told by a later look, if it is so still then.
        guard isFirst || changes.take(at: socket.loop.now) else { return }
        announced = announcement
        onEvent(isFirst ? .ready(announcement) : .changed(announcement))
    }

    private func announcement() -> Announcement {
        var announcement = Announcement(
            grant: publication.grant, sessionID: publication.lease.stageSessionID, generation: publication.lease.generation,
            ingestProtocol: publication.ingestProtocol,
            acceptsKeyframeRequests: publication.source?.canRequestKeyframe ?? false, formats: [:],
            source: socket.localAddress)
        announcement.formats[.video] = publication.videoFormat
        announcement.formats[.audio] = publication.formats[.audio]
        announcement.layers = layerNames.announce(layers, expected: publication.videoTracks)
        announcement.muted = muted
        return announcement
    }

    private func tellFeedback() {
        for (replica, leg) in legs.enumerated() {
            guard let moment = leg.lastFeedback, moment != lastFeedback[replica] else { continue }
            lastFeedback[replica] = moment
            onEvent(.feedback(replica: replica, at: moment))
        }
        // An encoder may have turned out deaf, or changed more than could be told at once.
        if announced != nil { considerAnnouncing() }
    }

    /// A publication of one track only, or with layers whose size is not known yet, is announced this long after its first track
    /// is known; a track that comes later is announced anew.
    static let patience = Duration.milliseconds(500)
    static let feedbackInterval = Duration.seconds(1)
    /// Of what was announced, and then one in each `feedbackInterval`.
    static let maximumChangesAtOnce = 10
}
