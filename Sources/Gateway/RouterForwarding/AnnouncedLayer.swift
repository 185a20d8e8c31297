public import StageHub

/// One of several encodings of a participant's video, as routers are told of it.
public struct AnnouncedLayer: Sendable, Equatable {
    public var track: TrackID
    /// Its name toward routers.
    public var rid: LayerName
    /// 0 until its parameter sets or its first second came, as the rates are.
    public var width = 0
    public var height = 0
    public var framesPerSecond = 0
    public var bitsPerSecond = 0
    public var isActive = false

    public init(_ track: TrackID, rid: LayerName) { (self.track, self.rid) = (track, rid) }
}

/// The rids of one publication's layers toward routers: their rank's names when they are first
/// announced, and theirs from then on.
///
/// What a rid promised may turn out otherwise: the order and the sizes of what `announce` returns tell.
struct LayerNames {
    private var rids: [TrackID: LayerName] = [:]

    /// - Parameters:
    ///   - layers: those whose size is known, best first.
    ///   - expected: all that may come.
    /// - Returns: best first; none where there is one encoding alone.
    mutating func announce(_ layers: [VideoLayer], expected: [TrackID]) -> [AnnouncedLayer] {
        let ranked = Self.ranked(layers.map(\.track), expected)
        guard ranked.count > 1 else { return [] }
        let names: [LayerName] = ranked.count == 2 ? [.hi, .low] : [.hi, .mid, .low]
        for track in ranked where rids[track] == nil { rids[track] = names.first { !rids.values.contains($0) } }
        return ranked.compactMap { track in
            rids[track].map { rid in
                var announced = AnnouncedLayer(track, rid: rid)
                if let layer = layers.first(where: { $0.track == track }) { announced.take(layer) }
                return announced
            }
        }
    }

    /// Those that have not come yet are taken for better ones: where bandwidth is short encoders begin with the small ones.
    private static func ranked(_ known: [TrackID], _ expected: [TrackID]) -> [TrackID] {
        let missing = expected.filter { !known.contains($0) }.sorted { $0.layer < $1.layer }
        let isAscending = known.last.map { least in missing.allSatisfy { $0.layer > least.layer } } ?? false
        return (isAscending ? missing.reversed() : missing) + known
    }
}

extension AnnouncedLayer {
    fileprivate mutating func take(_ layer: VideoLayer) {
        (width, height, isActive) = (layer.width, layer.height, layer.isActive)
        (framesPerSecond, bitsPerSecond) = (layer.framesPerSecond, layer.bitsPerSecond)
    }
}

extension Publication {
    /// What goes to those who take one layer: the best that lives; nil before the size of any is known.
    var bestLayer: TrackID? { (layers.first(where: \.isActive) ?? layers.first)?.track }

    /// All tracks of video, known by their format.
    var videoTracks: [TrackID] { formats.keys.filter { $0.kind == .video }.sorted { $0.layer < $1.layer } }

    /// Of the best layer that lives.
    var videoFormat: TrackFormat? { bestLayer.flatMap { formats[$0] } ?? videoTracks.first.flatMap { formats[$0] } }
}
