/// What can be wrong with an AudioSpecificConfig from a peer.
public enum AACError: Error, Equatable, Sendable {
    case truncated
    /// samplingFrequencyIndex 13 or 14, or a frequency of 0.
    case reservedFrequency
    /// More bytes than any configuration needs.
    case tooLong
}
