/// What a JSON text may cost its reader.
public struct JSONLimits: Sendable {
    /// Bytes of the whole text.
    public var maximumLength: Int
    /// Arrays and objects inside each other; the reader recurses once per level.
    public var maximumDepth: Int
    /// Values in the whole text: each costs some 40 bytes of memory however short its text.
    public var maximumValues: Int

    public init(maximumLength: Int = 256 * 1024, maximumDepth: Int = 32, maximumValues: Int = 20_000) {
        (self.maximumLength, self.maximumDepth, self.maximumValues) = (maximumLength, maximumDepth, maximumValues)
    }

    /// Request and answer bodies of the control API and of routers.
    public static let standard = JSONLimits()
}
