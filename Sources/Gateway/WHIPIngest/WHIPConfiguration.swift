/// How WHIP judges and limits publishers. Checked by the configuration that it comes from.
public struct WHIPConfiguration: Sendable {
    /// profile_idc values that an offer may show; nil leaves the verdict to the parameter sets.
    public var acceptedProfiles: Set<UInt8>? = [66]
    /// The cap told by REMB where it was offered, bit/s.
    public var maximumBitrate = 8_000_000

    public init() {}
}
