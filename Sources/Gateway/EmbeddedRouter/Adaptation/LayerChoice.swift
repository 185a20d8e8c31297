import StageHub

/// Which layer a viewer wants: the one it chose, or the best that its way carries.
enum LayerWish: Sendable, Equatable {
    case automatic
    case layer(LayerName)
}

/// Where a viewer begins before anything is known of its way (IVS: `initialLayerPreference`).
enum InitialLayer: String, Sendable {
    case lowest = "LOWEST_QUALITY"
    case highest = "HIGHEST_QUALITY"
}

/// The layer that a viewer is to get, and why.
struct LayerChoice: Sendable, Equatable {
    enum Reason: String, Sendable {
        /// The first one, before anything is known of the way.
        case initial
        /// The viewer asked for it.
        case requested
        /// The viewer asked for another one, which does not flow.
        case unavailable
        /// The way carries it, and did not carry it before.
        case bandwidthRose = "bandwidth rose"
        /// The way does not carry a better one any more; without a layer it carries sound alone.
        case bandwidthFell = "bandwidth fell"
        /// The one before was paused or is gone.
        case layerLost = "layer lost"
    }

    /// Nil: no video.
    var track: TrackID?
    var reason: Reason
}
