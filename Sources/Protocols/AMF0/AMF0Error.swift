/// Why bytes are not AMF 0 that we take.
public enum AMF0Error: Error, Equatable, Sendable {
    case truncated
    /// Deeper than `AMF0Decoder.maximumDepth`.
    case tooDeep
    /// More than `AMF0Decoder.maximumValueCount` values in one message.
    case tooManyValues
    /// Marker 0x11: what follows is AMF 3, which no encoder needs for publishing.
    case amf3
    /// References, movie clips, record sets, and markers that the specification does not have.
    case unsupportedMarker(UInt8)
}
