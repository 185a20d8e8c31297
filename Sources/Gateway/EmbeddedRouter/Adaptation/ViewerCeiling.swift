import StageHub

/// Which layers are within what a viewer may take, whatever its way would carry. A value without clock.
struct ViewerCeiling {
    /// Bits a second of pictures and sound; nil before it is known.
    var bitsPerSecond: Int?
    private var barred: Set<TrackID> = []

    /// Whether there are pictures, and all of them are more than it may take.
    private(set) var barsAll = false

    /// The layers as they may be chosen: those beyond the ceiling count as paused. One that was is taken again only with room to
    /// spare, so that a rate near the ceiling does not switch to and fro.
    mutating func admit(_ layers: [VideoLayer], sound: Int) -> [VideoLayer] {
        guard let bitsPerSecond else { return layers }
        let room = bitsPerSecond - sound
        barred = Set(
            layers.filter { layer in
                let need = barred.contains(layer.track) ? layer.bitsPerSecond + layer.bitsPerSecond / 5 : layer.bitsPerSecond
                return need > room
            }.map(\.track))
        let flowing = layers.filter(\.isActive)
        barsAll = !flowing.isEmpty && flowing.allSatisfy { barred.contains($0.track) }
        return layers.map { layer in
            var admitted = layer
            if barred.contains(layer.track) { admitted.isActive = false }
            return admitted
        }
    }
}
