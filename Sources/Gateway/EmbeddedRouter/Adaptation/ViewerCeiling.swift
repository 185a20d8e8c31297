import StageHub
import Wire

/// Which layers are within what a viewer may take, whatever its way would carry. A value without clock.
///
/// It uses nothing up, as an `Allowance` would: it compares what each layer takes by itself with what there is.
struct ViewerCeiling {
    /// Bits a second of pictures and sound; nil before it is known.
    var bitsPerSecond: Int?
    /// Those that are not to be chosen, by when they were beyond it last.
    private var barred: [TrackID: MonotonicTime] = [:]

    /// Whether there are pictures, and all of them are more than it may take.
    private(set) var barsAll = false

    /// The layers as they may be chosen: those beyond the ceiling count as paused. One that was is taken again with room to
    /// spare, or when it has been within for a while: a rate near the ceiling does not switch to and fro, and a peak takes no
    /// picture away for good.
    mutating func admit(_ layers: [VideoLayer], sound: Int, at now: MonotonicTime) -> [VideoLayer] {
        guard let bitsPerSecond else { return layers }
        let (room, former) = (bitsPerSecond - sound, barred)
        barred = [:]
        for layer in layers {
            if layer.bitsPerSecond > room {
                barred[layer.track] = now
            } else if let last = former[layer.track], now - last < Self.patience, 6 * layer.bitsPerSecond > 5 * room {
                barred[layer.track] = last
            }
        }
        let flowing = layers.filter(\.isActive)
        barsAll = !flowing.isEmpty && flowing.allSatisfy { barred[$0.track] != nil }
        return layers.map { layer in
            var admitted = layer
            if barred[layer.track] != nil { admitted.isActive = false }
            return admitted
        }
    }

    private static let patience: Duration = .seconds(10)
}
