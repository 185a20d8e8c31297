public import Admission
public import H264
public import Refusals
public import StageHub
public import Wire

/// What a worker's program adds to WHIP: the contract, and the way to routers. Confined to the worker.
public protocol WHIPPublishHost: AnyObject {
    /// Asked when the token is found good, before the lease is claimed: a refusal that this encoder has still to hear.
    /// - Parameter offer: a digest of the offer's settings; an encoder whose offer changed has changed a setting.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> Refusal?
    /// Asked when a session is made: what the encoder's last publish was warned of, once; nil when its settings have changed
    /// since.
    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> String?
    /// The profile_idc values that an offer for this grant's stage may name; nil leaves the profile to the parameter sets.
    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>?
    /// Seconds after which a refused encoder may try again; nil when it may at once.
    func retryAfter(for grant: PublishGrant) -> Int?
    /// The contract's eye on this publish; nil looks at nothing.
    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest, offer: String
    ) -> (any PacketInspector)?
    /// A publish was granted and its keys are good; media follows. Add sinks now.
    func publishBegan(_ publication: Publication)
    /// The sinks have been told already.
    func publishEnded(_ publication: Publication, _ reason: SessionEnd)
}

/// Where the media contract looks at one WHIP publish (docs/design.md 8). Confined to the publish's worker.
///
/// Each call may answer with the refusal that ends the publish. Bytes are valid until the call returns.
public protocol PacketInspector: AnyObject {
    /// One video packet of the forwarded layer, in order of arrival, late and retransmitted ones too; duplicates are left out.
    /// - Parameter found: what is in its payload.
    func inspectVideo(_ packet: MediaPacket, _ found: NALUnitList, arrival: MonotonicTime) -> Refusal?
    /// One packet of audio; duplicates are left out.
    func inspectAudio(_ packet: MediaPacket, arrival: MonotonicTime) -> Refusal?
    /// The encoder cannot be asked for keyframes: requests are not offered, or it does not heed them. Called once.
    func keyframesCannotBeRequested()
    /// Called about once a second: what takes too long.
    func timePassed(_ now: MonotonicTime) -> Refusal?
}
