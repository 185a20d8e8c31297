public import Refusals

/// One session of a viewer that watches one participant of a stage.
public struct Watching: Sendable, Equatable {
    /// Who watches.
    public var grant: SubscribeGrant
    /// Whom it watches.
    public var participantID: String

    public init(_ grant: SubscribeGrant, watches participantID: String) {
        (self.grant, self.participantID) = (grant, participantID)
    }
}

/// What the embedded router tells of those who watch, from any thread; participants and events are made from it.
///
/// Every call returns at once and waits for no disk. JOINED and LEFT follow: a participant joins with the first of its sessions
/// and leaves with the last, or with its publish if that ends later. A session that never connected leaves no trace.
public protocol ViewerReports: Sendable {
    /// The session is connected. Exactly one `watchStopped` of the same follows.
    func watchStarted(_ watching: Watching)
    func watchStopped(_ watching: Watching)
    /// A genuine token was turned away. Recorded as SUBSCRIBE_ERROR if the refusal has an event code and the stage has a session.
    func watchRefused(_ watching: Watching, _ refusal: Refusal)
}
