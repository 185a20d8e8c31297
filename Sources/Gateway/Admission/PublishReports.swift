public import Refusals

/// What the media side tells about a publish, from any thread; participants, events and webhooks are made from it.
///
/// Every call returns at once and waits for no disk. JOINED, PUBLISH_STOPPED and LEFT follow from claims and releases: a
/// takeover is none of them, and a claim that never started nor failed leaves no trace (the network test of broadcast SDKs, where
/// its media is none).
public protocol PublishReports: Sendable {
    /// Media flows: all tracks that the protocol demands have been decodable, and the router takes them.
    func publishStarted(_ lease: PublishLease)
    /// The publish ends by our decision; `release` follows. Recorded as PUBLISH_ERROR if the refusal has an event code.
    func publishFailed(_ lease: PublishLease, _ refusal: Refusal)
    /// The publish was a network test: once it is released, no list of participants has it, unless it did more in its session.
    func publishWasTest(_ lease: PublishLease)
    /// The stream breaks a rule that only warns; `sentence` says which and what to change. At most one a minute for each rule.
    func publishWarned(_ lease: PublishLease, rule: String, sentence: String)
    /// A genuine credential was turned away before it had a lease.
    func publishRefused(_ grant: PublishGrant, protocol: IngestProtocol, _ refusal: Refusal)
}
