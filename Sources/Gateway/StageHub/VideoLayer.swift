/// What viewers, metrics and routers call a layer of video, by IVS's names: by rank, never by what its encoder calls it.
public enum LayerName: String, Sendable, CaseIterable {
    case hi, mid, low
    /// The only one.
    case noRID = "no-rid"

    /// - Parameters:
    ///   - rank: 0 is the best.
    ///   - count: how many there are, at most `PublishCounters.maximumLayerCount`.
    init(rank: Int, of count: Int) {
        switch (rank, count) {
        case (_, ...1): self = .noRID
        case (0, _): self = .hi
        case (1, 3...): self = .mid
        default: self = .low
        }
    }
}

/// One encoding of a publication's video: without simulcast or multitrack there is one.
public struct VideoLayer: Sendable, Equatable {
    public var track: TrackID
    public var name: LayerName
    /// The encoder's own name: the rid of its offer, the number of its track; empty where it gave none.
    public var rid: String
    /// By its parameter sets, after cropping.
    public var width: Int
    public var height: Int
    /// Of the last second that had any, until the layer is paused; 0 before it was measured.
    public var framesPerSecond: Int
    /// Of the last seconds, the latest ones most.
    public var bitsPerSecond: Int
    /// False while nothing comes of it: it is paused, and keeps its place.
    public var isActive: Bool

    var pixelCount: Int { width * height }
}
