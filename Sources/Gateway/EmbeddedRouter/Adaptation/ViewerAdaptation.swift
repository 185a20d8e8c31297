import RTCP
import StageHub
import Wire

/// One viewer's way and its layer together: what is sent and told comes in, the layer to send and the padding to try with come
/// out. A value without clock, so that a simulated link can judge it whole (docs/design.md 5.8).
struct ViewerAdaptation {
    private(set) var estimate: BandwidthEstimate
    private var chooser: LayerChooser
    private var probes = ProbePlan()
    /// What the viewer may take, whatever its way carries.
    private var ceiling = ViewerCeiling()
    /// Best first.
    var layers: [VideoLayer] = []
    /// What sound takes of the way, bits a second.
    var soundBitsPerSecond = 0

    init(initial: InitialLayer = .lowest, wish: LayerWish = .automatic) {
        // Who begins with the best layer takes the way for wide until it is found narrow.
        estimate = BandwidthEstimate(start: initial == .highest ? Self.wide : BandwidthEstimate.startBitsPerSecond)
        chooser = LayerChooser(initial: initial)
        chooser.wish = wish
    }

    var wish: LayerWish {
        get { chooser.wish }
        set { chooser.wish = newValue }
    }

    var choice: LayerChoice? { chooser.choice }

    /// Whether no pictures flow, and the choice's keyframe is waited for.
    var isAwaited: Bool {
        get { chooser.isAwaited }
        set { chooser.isAwaited = newValue }
    }

    /// The layer to send; nil for none. Before layers are known there is one.
    var target: TrackID? { ceiling.barsAll ? nil : chooser.choice.map(\.track) ?? .video }

    /// Bits a second that the viewer may take in this session.
    var maximumBitsPerSecond: Int? {
        get { ceiling.bitsPerSecond }
        set { ceiling.bitsPerSecond = newValue }
    }

    /// Whether the present layer is to rest although the next has not begun: the way carries not even half of it.
    func isChoked(by bitsPerSecond: Int, at now: MonotonicTime) -> Bool {
        choice?.reason == .bandwidthFell && estimate.bitsPerSecond(at: now).map { 2 * $0 < bitsPerSecond } == true
    }

    /// A packet goes out under the transport-wide number `estimate.sent.next`.
    mutating func sent(byteCount: Int, at now: MonotonicTime) {
        estimate.sent(byteCount: byteCount, at: now)
        probes.sent(byteCount: byteCount)
    }

    mutating func received(_ feedback: TransportWideFeedback, at now: MonotonicTime) {
        let packets = estimate.received(feedback, isTried: probes.isUnderWay, at: now)
        if let proven = probes.take(packets) { estimate.proven(proven, at: now) }
        update(at: now)
    }

    mutating func reported(fractionLost: UInt8, at now: MonotonicTime) {
        let present = layers.first { $0.track == target }
        // While video is muted the little that is sent says nothing of what the way carries.
        guard present?.bitsPerSecond != 0 else { return update(at: now) }
        // Of sound alone the lowest layer is the next step, and to be tried.
        let video = (present ?? layers.last { $0.isActive })?.bitsPerSecond ?? 0
        estimate.reported(fractionLost: fractionLost, sending: video + soundBitsPerSecond, at: now)
        update(at: now)
    }

    mutating func limited(to bitsPerSecond: UInt64, at now: MonotonicTime) {
        estimate.limited(to: bitsPerSecond, at: now)
        update(at: now)
    }

    /// Chooses anew. To be called several times a second, and when layers or the wish have changed.
    mutating func update(at now: MonotonicTime) {
        probes.forgetLost(at: now)
        let (layers, former) = (ceiling.admit(layers, sound: soundBitsPerSecond, at: now), chooser.choice)
        chooser.update(layers, estimate: estimate.bitsPerSecond(at: now).map { $0 - soundBitsPerSecond }, at: now)
        if chooser.choice != former, chooser.choice?.reason == .bandwidthFell { probes.narrowed() }
    }

    // MARK: - Tries

    /// Whether padding is to be sent from now, by `padding(at:)` every `ProbePlan.turnInterval`.
    mutating func beginsTry(at now: MonotonicTime) -> Bool {
        let layers = ceiling.admit(layers, sound: soundBitsPerSecond, at: now)
        guard estimate.hasFeedback, let known = estimate.bitsPerSecond(at: now),
            let need = chooser.nextNeed(layers, beyond: known - soundBitsPerSecond, at: now)
        else { return false }
        return probes.begin(rate: need + soundBitsPerSecond, known: known, next: estimate.sent.next, at: now)
    }

    /// How much padding is due in this turn, bytes; nil ends the try.
    mutating func padding(at now: MonotonicTime) -> Int? { probes.turn(next: estimate.sent.next, at: now) }

    /// Above what the media contract lets in.
    private static let wide = 10_000_000
}
