/// The playlist that names the renditions (RFC 8216 §4.3.4), called master playlist there.
public struct MultivariantPlaylist: Equatable, Sendable {
    /// One rendition with all its tracks.
    public struct Variant: Equatable, Sendable {
        /// Of its media playlist, relative to this one.
        public var uri: String
        /// The greatest bit rate of a segment.
        public var peakBitsPerSecond: Int
        /// Of all segments; 0 leaves it out.
        public var averageBitsPerSecond: Int
        /// RFC 6381; with a comma between tracks.
        public var codecs: String
        /// Pixels; nil without video.
        public var resolution: Resolution?

        /// - Parameter uri: relative to the multivariant playlist.
        public init(
            uri: String, peakBitsPerSecond: Int, averageBitsPerSecond: Int = 0, codecs: String, resolution: Resolution? = nil
        ) {
            (self.uri, self.peakBitsPerSecond, self.averageBitsPerSecond) = (uri, peakBitsPerSecond, averageBitsPerSecond)
            (self.codecs, self.resolution) = (codecs, resolution)
        }
    }

    /// Width and height of pictures.
    public struct Resolution: Equatable, Sendable {
        public var width: Int
        public var height: Int

        /// Pixels.
        public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    }

    /// Best first.
    public var variants: [Variant]

    /// - Parameter variants: one at least.
    public init(variants: [Variant]) { self.variants = variants }

    /// The file's content, UTF-8.
    public var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7"]
        for variant in variants {
            lines.append("#EXT-X-STREAM-INF:" + variant.attributes.joined(separator: ","))
            lines.append(variant.uri)
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension MultivariantPlaylist.Variant {
    /// §4.3.4.2.
    fileprivate var attributes: [String] {
        var attributes = ["BANDWIDTH=\(max(1, peakBitsPerSecond))"]
        if averageBitsPerSecond > 0 { attributes.append("AVERAGE-BANDWIDTH=\(averageBitsPerSecond)") }
        attributes.append("CODECS=\"\(codecs)\"")
        if let resolution { attributes.append("RESOLUTION=\(resolution.width)x\(resolution.height)") }
        return attributes
    }
}
