public import Admission
public import Refusals

/// What a worker's program adds to its front ends, RTMP and WHIP alike: the contract, and the way to routers. Confined to the
/// worker.
public protocol PublishHost<Inspector>: AnyObject {
    /// Where the media contract looks at one publish.
    associatedtype Inspector

    /// Asked when the credential is found good, before the lease is claimed: a refusal that this encoder has still to hear.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal?
    /// What the encoder's last publish was warned of, told once; nil when its settings have changed since.
    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest) -> String?
    /// The profile_idc values that an offer for this grant's stage may name; nil leaves the profile to the parameter sets.
    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>?
    /// Seconds after which a refused encoder may try again; nil when it may at once.
    func retryAfter(for grant: PublishGrant) -> Int?
    /// The contract's eye on this publish; nil looks at nothing.
    func makeInspector(for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest) -> Inspector?
    /// A publish is live; media follows. Add sinks now: they are told of its end.
    /// - Parameter inspector: the one that was made for it.
    func publishBegan(_ publication: Publication, _ inspector: Inspector?)
}
