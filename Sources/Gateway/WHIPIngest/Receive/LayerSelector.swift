import StageHub
import Wire

/// Which simulcast layer is forwarded (docs/design.md 5.6): the largest whose packets came in the last 500 ms, changed only at a
/// keyframe of the new one, with sequence numbers and timestamps that go on.
struct LayerSelector {
    private struct Layer {
        var lastArrival: MonotonicTime?
        var pixelCount = 0
    }

    private var layers: [Layer]
    /// The layer that is forwarded; nil before the first keyframe of a simulcast publisher.
    private(set) var current: UInt8?
    private var sequenceOffset: Int64 = 0
    /// Added to the layer's own timestamps.
    private(set) var timestampOffset: Int64 = 0
    private var highestSequence: Int64?
    private var last: (timestamp: Int64, arrival: MonotonicTime)?

    init(layerCount: Int) {
        layers = Array(repeating: Layer(), count: layerCount)
        if layerCount == 1 { current = 0 }
    }

    /// Whether a packet is to be forwarded; then its numbers are those of the output.
    mutating func admits(
        _ packet: inout MediaPacket, layer: UInt8, startsKeyframe: Bool, pixelCount: Int, at now: MonotonicTime
    ) -> Bool {
        guard layers.count > 1 else { return true }
        layers[Int(layer)].lastArrival = now
        if pixelCount > 0 { layers[Int(layer)].pixelCount = pixelCount }
        if layer != current {
            guard startsKeyframe, layer == best(at: now) else { return false }
            change(to: layer, at: packet, now)
        }
        packet.sequenceNumber += sequenceOffset
        packet.timestamp += timestampOffset
        highestSequence = max(highestSequence ?? .min, packet.sequenceNumber)
        last = (packet.timestamp, now)
        return true
    }

    /// The largest living layer; before sizes are known, the offer's order decides.
    private func best(at now: MonotonicTime) -> UInt8? {
        let living = layers.indices.filter { index in
            guard let arrival = layers[index].lastArrival else { return false }
            return now - arrival <= Self.lifetime
        }
        return living.max { (layers[$0].pixelCount, -$0) < (layers[$1].pixelCount, -$1) }.map { UInt8($0) }
    }

    private mutating func change(to layer: UInt8, at packet: MediaPacket, _ now: MonotonicTime) {
        current = layer
        guard let highestSequence, let last else { return }
        sequenceOffset = highestSequence + 1 - packet.sequenceNumber
        // Layers count time from different beginnings; between two of them only our clock tells how much passed.
        let elapsed = max(1, (now - last.arrival).nanoseconds * 9 / 100_000)
        timestampOffset = last.timestamp + elapsed - packet.timestamp
    }

    /// The layer that a keyframe should be asked of: the one that ought to be forwarded.
    func target(at now: MonotonicTime) -> UInt8? { layers.count > 1 ? best(at: now) ?? current : current }

    /// Another layer than the forwarded one is the largest alive.
    func wantsChange(at now: MonotonicTime) -> Bool { layers.count > 1 && best(at: now) != nil && best(at: now) != current }

    private static let lifetime: Duration = .milliseconds(500)
}
