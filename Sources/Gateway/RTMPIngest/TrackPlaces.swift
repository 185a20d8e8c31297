import H264
import StageHub

/// Which of an encoder's video tracks are layers of its publication, and each one's place there (docs/design.md 5.6). A value
/// without clock.
///
/// The main track shows the canvas: a track of another shape is another picture (OBS's portrait canvas), and no layer. Places are
/// given as tracks become decodable. When there are more tracks than places, those of the highest
/// bitrates have them after a while.
struct TrackPlaces {
    /// Why a track has no place.
    enum Reason: Equatable {
        case codec(String)
        case shape(PictureSize)
        case rank(PictureSize)
    }

    /// A track that could be followed, and has no place.
    struct PassedOver: Equatable {
        let id: UInt8
        let reason: Reason
    }

    private struct Track {
        let id: UInt8
        /// Of a codec that is not taken.
        var codec: String?
        var size: PictureSize?
        var isDecodable = false
        var place: UInt8?
        /// Since the contest began.
        var byteCount = 0
    }

    /// The main one first, the others as they came.
    private var tracks = [Track(id: 0)]
    /// Seconds that a contest for the places still lasts.
    private var secondsLeft = 0

    /// There are more tracks than places, and their bytes are to be counted.
    var isContested: Bool { secondsLeft > 0 }

    func place(of id: UInt8) -> UInt8? { tracks.first { $0.id == id }?.place }

    /// By number; whose places are contested still is not among them.
    var passedOver: [PassedOver] {
        tracks.filter { $0.place == nil }.sorted { $0.id < $1.id }
            .compactMap { track in reason(for: track).map { PassedOver(id: track.id, reason: $0) } }
    }

    /// Nothing came of the main track so far: it is another one.
    mutating func mainTrackIs(_ id: UInt8) {
        let known = tracks.first { $0.id == id }
        tracks = [known ?? Track(id: id)] + tracks.dropFirst().filter { $0.id != id }
        givePlaces()
    }

    /// Parameter sets of H.264 came.
    /// - Parameter size: nil when they cannot be read.
    mutating func configured(_ id: UInt8, _ size: PictureSize?) {
        guard let index = index(of: id) else { return }
        (tracks[index].codec, tracks[index].size, tracks[index].isDecodable) = (nil, size, true)
        givePlaces()
    }

    /// A track is, or has become, of a codec that is not taken.
    mutating func refused(_ id: UInt8, codec: String) {
        guard let index = index(of: id) else { return }
        (tracks[index].codec, tracks[index].isDecodable) = (codec, false)
        givePlaces()
    }

    /// Something of a track came while places are contested.
    mutating func received(_ byteCount: Int, of id: UInt8) {
        if let index = index(of: id) { tracks[index].byteCount += byteCount }
    }

    /// - Returns: whether places have changed hands.
    mutating func secondPassed() -> Bool {
        guard isContested else { return false }
        secondsLeft -= 1
        return isContested ? false : decide()
    }

    /// Where a track stands in the list, which a new one is put at the end of; nil when there are too many.
    private mutating func index(of id: UInt8) -> Int? {
        if let index = tracks.firstIndex(where: { $0.id == id }) { return index }
        guard tracks.count < Self.maximumTrackCount else { return nil }
        tracks.append(Track(id: id))
        return tracks.count - 1
    }

    private mutating func givePlaces() {
        for index in tracks.indices where !isLayer(tracks[index]) { tracks[index].place = nil }
        var hasLosers = false
        for index in tracks.indices where isLayer(tracks[index]) && tracks[index].place == nil {
            tracks[index].place = freePlace
            if tracks[index].place == nil { hasLosers = true }
        }
        secondsLeft = hasLosers ? Self.contestSeconds : 0
        for index in tracks.indices { tracks[index].byteCount = 0 }
    }

    private var freePlace: UInt8? {
        (0..<UInt8(PublishCounters.maximumLayerCount)).first { place in !tracks.contains { $0.place == place } }
    }

    /// One that is silent meanwhile keeps the place that it has: it is paused.
    private mutating func decide() -> Bool {
        let silent = tracks.count { $0.place != nil && $0.byteCount == 0 }
        let ranked = tracks.indices.filter { isLayer(tracks[$0]) && tracks[$0].byteCount > 0 }
            .sorted { (tracks[$0].byteCount, $1) > (tracks[$1].byteCount, $0) }
        let winners = ranked.prefix(PublishCounters.maximumLayerCount - silent).filter { tracks[$0].place == nil }
        let losers = ranked.dropFirst(PublishCounters.maximumLayerCount - silent).filter { tracks[$0].place != nil }
        for (winner, loser) in zip(winners, losers) {
            (tracks[winner].place, tracks[loser].place) = (tracks[loser].place, nil)
        }
        return !winners.isEmpty
    }

    /// Others wait until the main one has shown the canvas.
    private func isLayer(_ track: Track) -> Bool {
        guard track.isDecodable else { return false }
        if track.id == tracks[0].id { return true }
        guard let canvas, let size = track.size else { return false }
        return size.hasShape(of: canvas)
    }

    private var canvas: PictureSize? { tracks[0].size }

    private func reason(for track: Track) -> Reason? {
        if let codec = track.codec { return .codec(codec) }
        guard let canvas, let size = track.size else { return nil }
        guard size.hasShape(of: canvas) else { return .shape(size) }
        return isContested ? nil : .rank(size)
    }

    /// OBS has ten encoders at most.
    static let maximumTrackCount = 10
    /// Two usual intervals between keyframes: what they cost is spread.
    private static let contestSeconds = 4
    /// A shape is another one when its aspect differs by more than a twentieth.
    static let shapeTolerance = 20
}

extension PictureSize {
    /// Whether both may show the same canvas.
    fileprivate func hasShape(of canvas: PictureSize) -> Bool {
        let (own, other) = (width * canvas.height, canvas.width * height)
        return abs(own - other) * TrackPlaces.shapeTolerance <= other
    }
}
