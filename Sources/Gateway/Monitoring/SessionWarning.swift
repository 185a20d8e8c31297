public import Wire

/// A rule of the media contract that a publish breaks and that only warns.
public struct SessionWarning: Sendable, Equatable {
    /// The rule's name, as metrics and events have it.
    public var rule: String
    /// What was measured, what is allowed, and which setting to change.
    public var sentence: String
    /// Of the latest one.
    public var time: WallTime
    public var count = 1

    public init(rule: String, sentence: String, time: WallTime) {
        (self.rule, self.sentence, self.time) = (rule, sentence, time)
    }
}
