/// Why the body of an audio or video message is not what FLV or Enhanced RTMP describe.
public enum FLVError: Error, Equatable, Sendable {
    case truncated
    /// A track of a multitrack message, or a tag of an aggregate, is longer than what holds it.
    case overlong
    /// A multitrack message inside a multitrack message, which Enhanced RTMP v2 forbids.
    case nestedMultitrack
    case unsupportedMultitrackType(UInt8)
}
