/// One picture in several sizes, for encoders that send layers.
extension StreamTarget {
    /// What stages forward of one publisher.
    public static let maximumLayers = 3

    /// This picture and smaller ones, best first, each of half the sides of the one before; together of this one's bits.
    ///
    /// Fewer than asked for where a side would fall below 160 samples or a bitrate below 100 kbit/s: a layer that nobody could
    /// look at takes its bits from those above.
    /// - Parameter count: 1 to `maximumLayers`; what is outside counts as the nearest.
    public func layers(_ count: Int) -> [StreamTarget] {
        let possible = (1...max(1, min(count, Self.maximumLayers))).last { $0 == 1 || isWorthwhile($0) } ?? 1
        return zip(0..<possible, Self.shares[possible - 1]).map { depth, share in
            var layer = self
            (layer.width, layer.height) = (width >> depth & ~1, height >> depth & ~1)
            layer.videoKilobits = videoKilobits * share / 100
            return layer
        }
    }

    private func isWorthwhile(_ count: Int) -> Bool {
        let (share, depth) = (Self.shares[count - 1].last ?? 100, count - 1)
        return min(width, height) >> depth >= Self.leastSide && videoKilobits * share / 100 >= Self.leastLayerKilobits
    }

    /// Hundredths of the bits, as the presets of IVS' web SDK share them: 1,700, 700 and 200 kbit/s.
    private static let shares = [[100], [75, 25], [65, 27, 8]]
    private static let leastSide = 160
    private static let leastLayerKilobits = 100
}

extension OBSEncoder {
    /// How many pictures it can make at once beside a scene: smaller ones take a third more of a processor that few cores share.
    public var layerCount: Int {
        if case .x264(let cores) = self, cores < 6 { 1 } else { StreamTarget.maximumLayers }
    }
}
