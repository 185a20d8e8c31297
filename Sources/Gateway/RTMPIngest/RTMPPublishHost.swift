public import Admission
public import Refusals
public import StageHub

/// What a worker's program adds to the RTMP front end: the contract, and the way to routers. Confined to the worker.
public protocol RTMPPublishHost: AnyObject {
    /// Asked when the credential is found good, before the key is claimed: a refusal that this encoder has still to hear.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal?
    /// The contract's eye on this publish; nil looks at nothing.
    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest
    ) -> (any MediaInspector)?
    /// A publish was granted; media follows. Add sinks now.
    func publishBegan(_ publication: Publication)
    /// The sinks have been told already.
    func publishEnded(_ publication: Publication, _ reason: SessionEnd)
}
