public import Admission
public import Refusals

/// What both ingests, RTMP and WHIP, need of the worker around them: the media contract, and whoever wants a publish's media.
/// Confined to the worker. Node's `PublicationHost` is the one that serves.
public protocol PublishHost<Inspector>: AnyObject {
    /// What the media contract judges one publish with; the hub itself knows no contract.
    associatedtype Inspector

    /// Asked when the credential is found good, before the lease is claimed: a refusal that this encoder has still to hear.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal?
    /// What the encoder's last publish was warned of, told once; nil when its settings have changed since.
    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest) -> String?
    /// The profile_idc values that an offer for this grant's stage may name; nil leaves the profile to the parameter sets.
    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>?
    /// The bitrate of video that this grant's stage accepts, bit/s; nil without a limit.
    func acceptedBitrate(for grant: PublishGrant) -> Int?
    /// Seconds after which a refused encoder may try again; nil when it may at once.
    func retryAfter(for grant: PublishGrant) -> Int?
    /// The contract's eye on this publish; nil looks at nothing.
    func makeInspector(for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest) -> Inspector?
    /// A publish is live; media follows. Add sinks now: they are told of its end.
    /// - Parameter inspector: the one that was made for it.
    func publishBegan(_ publication: Publication, _ inspector: Inspector?)
}
