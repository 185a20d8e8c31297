import StageHub
import Wire

/// Chooses a viewer's layer by its wish, what there is, and what its way carries (docs/design.md 5.8). A value without clock.
///
/// Down at once, up only for good: a better layer is taken when the way has carried a fifth more than it needs for a second.
struct LayerChooser {
    private(set) var choice: LayerChoice?
    var wish = LayerWish.automatic
    /// No pictures flow: the choice's keyframe is waited for.
    var isAwaited = false
    private let initial: InitialLayer
    private var patience = RisePatience()
    /// Since when a better layer is carried, and since when the present one is not.
    private var carriedSince: MonotonicTime?
    private var starvedSince: MonotonicTime?

    init(initial: InitialLayer = .lowest) { self.initial = initial }

    /// Looks anew at everything.
    /// - Parameters:
    ///   - layers: best first.
    ///   - estimate: bits a second that the way carries beside sound; nil while nothing is known.
    mutating func update(_ layers: [VideoLayer], estimate: Int?, at now: MonotonicTime) {
        let flowing = layers.filter(\.isActive)
        // Nothing flows: a muted publisher's video goes on where it was.
        guard let best = flowing.first, let lowest = flowing.last else { return }
        if case .layer(let name) = wish {
            let given = Self.nearest(to: name, layers)
            return choose(given.track, given.name == name ? .requested : .unavailable)
        }
        guard let choice else { return choose((initial == .lowest ? lowest : best).track, .initial) }
        guard let estimate else {
            // Nothing is sent, not even sound, so that nobody tells of the way any more: it is tried.
            return choice.track == nil ? choose(lowest.track, .initial) : replaceIfLost(choice, layers)
        }
        if choice.track == nil { return rise(to: flowing.first { Self.needToRise($0) <= estimate }, at: now) }
        guard let present = flowing.first(where: { $0.track == choice.track }) else { return replaceIfLost(choice, layers) }
        if isStarved(present, isLowest: present == lowest, estimate, at: now) {
            fall(from: present, flowing, estimate, at: now)
        } else {
            let better = flowing.prefix { $0 != present }
            rise(to: better.first { Self.needToRise($0) <= estimate }, at: now)
        }
    }

    /// What the way has to carry beside sound before the next layer up can be taken that it is not known to carry; nil when
    /// there is none, or it is not its time.
    func nextNeed(_ layers: [VideoLayer], beyond estimate: Int, at now: MonotonicTime) -> Int? {
        guard wish == .automatic, let choice, patience.mayRise(at: now) else { return nil }
        let better = layers.filter(\.isActive).prefix { $0.track != choice.track }
        return better.last { Self.needToRise($0) > estimate && $0.bitsPerSecond > 0 }.map(Self.needToRise)
    }

    // MARK: - Down

    private mutating func isStarved(_ present: VideoLayer, isLowest: Bool, _ estimate: Int, at now: MonotonicTime) -> Bool {
        let share = Double(estimate) / Double(max(1, Self.need(present)))
        // Where no pictures are sent nothing shows that the way does not carry them: encoders' keyframes may be far apart.
        guard share < (isLowest ? Self.soundAloneShare : Self.keepShare), !(isLowest && isAwaited) else {
            starvedSince = nil
            return false
        }
        let since = starvedSince ?? now
        starvedSince = since
        if isLowest { return now - since >= Self.soundAlonePatience }
        return share < Self.clearShare || now - since >= Self.keepPatience
    }

    /// To the best that is carried; whatever the estimate says, the lowest is tried before sound alone.
    private mutating func fall(from present: VideoLayer, _ flowing: [VideoLayer], _ estimate: Int, at now: MonotonicTime) {
        let below = flowing.drop { $0 != present }.dropFirst()
        choose((below.first { Self.need($0) <= estimate } ?? below.last)?.track, .bandwidthFell)
        patience.fell(at: now)
    }

    // MARK: - Up

    /// - Parameter layer: nil when the way carries nothing better.
    private mutating func rise(to layer: VideoLayer?, at now: MonotonicTime) {
        guard let layer else { return carriedSince = nil }
        let since = carriedSince ?? now
        carriedSince = since
        guard now - since >= Self.proof, patience.mayRise(at: now) else { return }
        choose(layer.track, .bandwidthRose)
        patience.rose(at: now)
    }

    // MARK: - Choosing

    private mutating func choose(_ track: TrackID?, _ reason: LayerChoice.Reason) {
        guard choice?.track != track || wish != .automatic else { return }
        choice = LayerChoice(track: track, reason: reason)
        (carriedSince, starvedSince) = (nil, nil)
    }

    /// In the place of one that does not flow: the best below it, or the lowest above.
    private mutating func replaceIfLost(_ choice: LayerChoice, _ layers: [VideoLayer]) {
        guard let track = choice.track, !layers.contains(where: { $0.track == track && $0.isActive }) else { return }
        // Of another publish of the participant nothing is known: the lowest.
        let place = layers.firstIndex { $0.track == track } ?? layers.endIndex - 1
        if let other = Self.flowing(near: place, layers) { choose(other.track, .layerLost) }
    }

    private static func nearest(to name: LayerName, _ layers: [VideoLayer]) -> VideoLayer {
        // Of two layers none is mid: what is below it.
        let place = layers.firstIndex { $0.name == name } ?? (name == .hi ? layers.startIndex : layers.endIndex - 1)
        return flowing(near: place, layers) ?? layers[place]
    }

    private static func flowing(near place: Int, _ layers: [VideoLayer]) -> VideoLayer? {
        layers[place...].first(where: \.isActive) ?? layers[..<place].last(where: \.isActive)
    }

    // MARK: - Figures

    /// With headers and what is sent again.
    private static func need(_ layer: VideoLayer) -> Int { layer.bitsPerSecond + layer.bitsPerSecond / 20 }
    /// One whose rate is not measured yet is not risen to.
    private static func needToRise(_ layer: VideoLayer) -> Int {
        layer.bitsPerSecond > 0 ? need(layer) + need(layer) / 5 : .max
    }

    /// How long a better layer has to be carried before it is taken.
    private static let proof: Duration = .seconds(1)
    /// Below this share of its need a layer is left after a while; an estimate that backed off once is above it again by then.
    private static let keepShare = 0.95
    private static let keepPatience: Duration = .milliseconds(1_500)
    /// Below this one it is left at once.
    private static let clearShare = 0.75
    /// The lowest layer is worth some loss; sound alone is for a way that does not carry it at all.
    private static let soundAloneShare = 0.75
    private static let soundAlonePatience: Duration = .seconds(3)
}
