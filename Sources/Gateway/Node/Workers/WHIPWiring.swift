import Admission
import EventLoop
import GatewayConfiguration
import GatewayMetrics
import MediaContract
import Refusals
import StageHub
import WHIPIngest
import WebRTCTransport
import Wire

extension TransportConfiguration {
    /// - Parameter media: the bound media port.
    init(_ configuration: StagedoorConfiguration, media: SocketAddress) throws {
        let port = configuration.advertise.mediaPort > 0 ? UInt16(configuration.advertise.mediaPort) : media.port
        let addresses = try AdvertisedAddresses.list(configuration.advertise.addresses, bound: media.ip)
        self.init(
            advertisedAddresses: addresses.map { SocketAddress($0, port: port) }, tcpPort: configuration.media.tcp ? port : nil)
        let whip = configuration.whip
        iceServers = whip.iceServers.map { url in
            let isRelay = url.hasPrefix("turn") && !whip.turnSecret.isEmpty
            return ICEServer(url: url, sharedSecret: isRelay ? whip.turnSecret : nil, lifetime: whip.turnLifetime)
        }
        silence = configuration.whip.consentTimeout
        pendingLifetime = configuration.whip.pendingTimeout
        usesStrictETags = configuration.whip.usesStrictETags
    }
}

extension PublicationHost: WHIPPublishHost {
    /// An encoder whose offer changed has changed a setting, and is heard.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> Refusal? {
        services.contract.rememberedRefusal(for: ContractPublisher(grant, request, offer: offer), at: loop.now)
    }

    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> String? {
        services.contract.rememberedWarning(for: ContractPublisher(grant, request, offer: offer), at: loop.now)
    }

    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>? {
        services.contract.rules(forStageTags: grant.stageTags).offeredProfiles
    }

    func retryAfter(for grant: PublishGrant) -> Int? {
        services.contract.retryAfter(credential: grant.credentialHash, at: loop.now)
    }

    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest, offer: String
    ) -> (any PacketInspector)? {
        makeContract(for: grant, lease, ContractPublisher(grant, request, offer: offer), ingest: .whip)
    }
}
