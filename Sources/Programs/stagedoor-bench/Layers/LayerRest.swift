import ArgumentParser

/// A time in which a layer sends nothing: `0:5-10` holds the first one back from second 5 to 10, `1:5-` for good; a layer that
/// comes late rests from second 0.
struct LayerRest: ExpressibleByArgument {
    let layer: Int
    /// Media seconds.
    let time: Range<Double>

    init?(argument: String) {
        guard let words = argument.wholeMatch(of: /(\d)+:([\d.]+)-([\d.]*)/), let layer = Int(words.1),
            let start = Double(words.2), let end = words.3.isEmpty ? .infinity : Double(words.3), start < end
        else { return nil }
        (self.layer, time) = (layer, start..<end)
    }
}

/// Which layers rest. One goes on at a keyframe, as the layer of an encoder that was told to send it again does.
struct LayerRests {
    private let rests: [LayerRest]
    private var resting: Set<Int> = []

    init(_ rests: [LayerRest]) { self.rests = rests }

    /// Whether to hold back what `layer` has to send at media time `seconds`.
    mutating func hold(_ layer: Int, startsKeyframe: Bool, at seconds: Double) -> Bool {
        guard !rests.isEmpty else { return false }
        if rests.contains(where: { $0.layer == layer && $0.time.contains(seconds) }) {
            resting.insert(layer)
            return true
        }
        guard resting.contains(layer), !startsKeyframe else {
            resting.remove(layer)
            return false
        }
        return true
    }
}
