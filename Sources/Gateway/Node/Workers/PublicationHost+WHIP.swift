import Admission
import EventLoop
import MediaContract
import Refusals
import StageHub
import WHIPIngest
import Wire

extension PublicationHost: WHIPPublishHost {
    /// An encoder whose offer changed has changed a setting, and is heard.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> Refusal? {
        environment.contract.desk.rememberedRefusal(for: ContractPublisher(grant, request, offer: offer), at: loop.now)
    }

    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> String? {
        environment.contract.desk.rememberedWarning(for: ContractPublisher(grant, request, offer: offer), at: loop.now)
    }

    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>? {
        environment.contract.desk.rules(forStageTags: grant.stageTags).offeredProfiles
    }

    func retryAfter(for grant: PublishGrant) -> Int? {
        environment.contract.desk.retryAfter(credential: grant.credentialHash, at: loop.now)
    }

    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest, offer: String
    ) -> (any PacketInspector)? {
        makeContract(for: grant, lease, ContractPublisher(grant, request, offer: offer), ingest: .whip)
    }
}
