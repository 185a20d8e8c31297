import StageHub
import Wire

/// Which layer one subscriber gets: what is chosen for it, what flows until that begins, and what its page is told of both.
struct SubscriberLayers {
    /// What follows from a choice.
    enum Change {
        case none
        /// Another layer is waited for.
        case isAimed
        /// And until it begins nothing flows.
        case rests
    }

    /// What the way carries, and which layer that allows.
    var adaptation: ViewerAdaptation
    /// Whose pictures go on, and whose are waited for.
    private var pictures = LayerSwitch()
    private let hasVideo: Bool
    /// As the desk shows it.
    private var state: LayerState
    private var lastNews = MonotonicTime.zero

    init(of entry: SubscriberEntry) {
        adaptation = ViewerAdaptation(initial: entry.initialLayer, wish: entry.desk.wish)
        state = entry.desk.state
        hasVideo = entry.offer.section(.video) != nil
    }

    // MARK: - Choice

    /// - Parameter layers: best first; nil while nobody publishes.
    mutating func update(to layers: [VideoLayer]?) {
        adaptation.layers = layers ?? []
        state.layers = layers
    }

    /// Whether feedback has changed what is chosen.
    var isChoiceNew: Bool { adaptation.target != pictures.target }

    /// Takes what is chosen now for what is sent: at the next keyframe of that layer.
    mutating func aim(at now: MonotonicTime) -> Change {
        adaptation.isAwaited = pictures.flowing == nil
        adaptation.update(at: now)
        let target = hasVideo ? adaptation.target : nil
        guard target != pictures.target else { return .none }
        pictures.aim(at: target)
        // Sound alone, or the way is so narrow that what goes on would keep the next layer from coming.
        guard target == nil || isChoked(at: now) else { return .isAimed }
        pictures.awaitKeyframe()
        return .rests
    }

    private func isChoked(at now: MonotonicTime) -> Bool {
        let present = adaptation.layers.first { $0.track == pictures.current }
        return present.map { adaptation.isChoked(by: $0.bitsPerSecond, at: now) } ?? false
    }

    // MARK: - Pictures

    /// Whether only sound is sent.
    var isSoundAlone: Bool { pictures.target == nil }
    /// The layer whose packets go out now; nil while a keyframe is waited for.
    var flowing: TrackID? { pictures.flowing }
    /// Whose keyframe is waited for; nil while what is chosen flows.
    var wanted: TrackID? { pictures.wanted }
    /// Whose keyframe shows a decoder that has lost its way all of it.
    var decodable: TrackID? { pictures.wanted ?? pictures.current }

    /// Adds what it gets or waits for.
    func want(_ layers: inout LayerSet) { layers.insert(pictures) }

    /// Pictures are missing: the next keyframe begins anew.
    mutating func awaitKeyframe() { pictures.awaitKeyframe() }

    /// - Parameter run: of video.
    mutating func passage(of run: MediaRun) -> LayerSwitch.Passage { pictures.passage(of: run) }

    // MARK: - News

    /// What the page is to be told, not more than twice a second, whatever happens; nil while there is nothing.
    mutating func news(at now: MonotonicTime) -> LayerState? {
        guard now - lastNews >= Self.newsPeriod else { return nil }
        state.current = isSoundAlone ? nil : pictures.current
        (state.choice, state.wish) = (adaptation.choice, adaptation.wish)
        state.estimate = adaptation.estimate.bitsPerSecond(at: now)
        lastNews = now
        return state
    }

    private static let newsPeriod: Duration = .milliseconds(500)
}
