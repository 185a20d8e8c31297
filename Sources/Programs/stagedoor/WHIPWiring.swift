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
    init(_ configuration: StagedoorConfiguration, media: SocketAddress) {
        let port = configuration.advertise.mediaPort > 0 ? UInt16(configuration.advertise.mediaPort) : media.port
        let addresses = Self.addresses(configuration, media: media)
        self.init(
            advertisedAddresses: addresses.map { SocketAddress($0, port: port) }, tcpPort: configuration.media.tcp ? port : nil)
        iceServers = configuration.whip.iceServers.map { ICEServer(url: $0) }
        silence = configuration.whip.consentTimeout
        pendingLifetime = configuration.whip.pendingTimeout
        usesStrictETags = configuration.whip.usesStrictETags
    }

    /// What the operator said, and nothing else; else what the sockets are bound to; else what the interfaces have.
    private static func addresses(_ configuration: StagedoorConfiguration, media: SocketAddress) -> [IPAddress] {
        if !configuration.advertise.addresses.isEmpty { return configuration.advertise.addresses }
        if !media.ip.isUnspecified { return [media.ip] }
        let usable = InterfaceAddresses.all.filter { !$0.isLinkLocal && (!media.ip.isV4 || $0.isV4) }
        // IPv4 first: some clients take the first candidate only. Loopback last: it is for this machine.
        return usable.filter { $0.isV4 && !$0.isLoopback } + usable.filter { !$0.isV4 && !$0.isLoopback }
            + usable.filter { $0 == .loopback }
    }
}

extension PublicationHost: WHIPPublishHost {
    /// An encoder whose offer changed has changed a setting, and is heard.
    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest, offer: String) -> Refusal? {
        services.contract.rememberedRefusal(for: ContractPublisher(grant, request, offer: offer), at: loop.now)
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
