public import Wire

/// A participant whose tokens are refused until the last of them has expired.
public struct Revocation: Equatable, Sendable {
    public var stageARN: String
    public var participantID: String
    /// `exp` and leeway of the longest-lived token that can exist for it.
    public var expiresAt: WallTime

    public init(stageARN: String, participantID: String, expiresAt: WallTime) {
        (self.stageARN, self.participantID, self.expiresAt) = (stageARN, participantID, expiresAt)
    }
}
