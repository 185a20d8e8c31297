/// How WHIP limits publishers. Checked by the configuration that it comes from.
public struct WHIPConfiguration: Sendable {
    /// The cap told by REMB where it was offered, bit/s.
    public var maximumBitrate = 8_000_000

    public init() {}
}
