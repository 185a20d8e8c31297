import Admission
import GatewayLogging
import RTMPIngest
import Refusals
import RouterForwarding
import StageHub

/// Connects each publication of one worker with its routers, the contract and the reports. Confined to the worker.
final class PublicationHost: RTMPPublishHost {
    private let services: NodeServices
    private let socket: RouterSocket

    init(services: NodeServices, socket: RouterSocket) { (self.services, self.socket) = (services, socket) }

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? { nil }

    func makeInspector(for grant: PublishGrant, _ request: PublishRequest) -> (any MediaInspector)? { nil }

    func publishBegan(_ publication: Publication) {
        services.gate.publishBegan()
        for router in services.staticRouters where router.attach(publication, socket: socket) == nil {
            Log.event(.warning, "router_ports_exhausted", ["participant": .string(publication.grant.participantID)])
        }
    }

    func publishEnded(_ publication: Publication, _ reason: PublicationEnd) { services.gate.publishEnded() }
}
