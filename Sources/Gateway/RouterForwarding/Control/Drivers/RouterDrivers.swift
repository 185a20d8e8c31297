public import EventLoop
import HTTPClient
import SRTP
public import Settings
public import Wire

/// Makes the drivers of those routers of the configuration that are asked: `announce` and `janus`.
public struct RouterDrivers {
    /// Where a router's URL leads, looked up once at the start.
    public struct Route: Sendable {
        /// Media may go there, unless the configuration names networks. None where its name led nowhere.
        public var addresses: [IPAddress]
        /// The address of ours from which the system would send there; nil where that is unknown.
        public var source: IPAddress?

        public init(addresses: [IPAddress], source: IPAddress?) { (self.addresses, self.source) = (addresses, source) }
    }

    private let loop: EventLoop
    private let gatewayID: String
    private let ownListeners: Set<SocketAddress>
    private let ownership: MountpointOwnership
    private let isOnlyProcess: () -> Bool

    /// - Parameters:
    ///   - loop: the control loop.
    ///   - gatewayID: another for every process.
    ///   - ownListeners: where no router may send our media.
    ///   - ownership: knows our mountpoints on Janus servers.
    ///   - isOnlyProcess: false while another process of this gateway may have some too.
    public init(
        loop: EventLoop, gatewayID: String, ownListeners: Set<SocketAddress>, ownership: MountpointOwnership,
        isOnlyProcess: @escaping () -> Bool
    ) {
        (self.loop, self.gatewayID, self.ownListeners) = (loop, gatewayID, ownListeners)
        (self.ownership, self.isOnlyProcess) = (ownership, isOnlyProcess)
    }

    /// - Parameter name: the router's in the configuration.
    /// - Returns: nil for a router that is not asked.
    public func driver(_ name: String, _ settings: RouterSettings, route: Route) -> (any RouterDriver)? {
        let http = client(of: name, settings)
        let ownNetworks = route.addresses.compactMap { IPNetwork($0, prefixLength: $0.isV4 ? 32 : 128) }
        var trust = RouterTrust(networks: settings.media.isEmpty ? ownNetworks : settings.media, ownListeners: ownListeners)
        trust.includesAnswerer = settings.media.isEmpty
        let token = settings.token.isEmpty ? nil : settings.token
        switch settings.driver {
        case .announce:
            var announce = AnnounceDriver.Configuration(
                name: name, url: settings.url, bearer: token, trust: trust, protection: settings.srtp ? .aeadAES128GCM : nil,
                sourceAddress: route.source)
            announce.offersLayers = settings.sendsLayers
            return AnnounceDriver(announce, gatewayID: gatewayID, http: http)
        case .janus:
            var janus = JanusDriver.Configuration(
                name: name, url: settings.url, mediaAddress: IPAddress(settings.host), trust: trust,
                ownership: ownership)
            (janus.apiSecret, janus.isProtected, janus.takesLayers) = (token, settings.srtp, settings.sendsLayers)
            return JanusDriver(janus, http: http, isOnlyProcess: isOnlyProcess)
        case .static, .embedded: return nil
        }
    }

    /// A router has one of its own, with room of its own: where it hangs, no other's requests wait for it.
    func client(of name: String, _ settings: RouterSettings) -> RouterHTTPClient {
        RouterHTTPClient(HTTPClient(loop: loop), tls: settings.tls, router: name)
    }
}

extension RouterSettings {
    /// Whether the router takes part in placement and is asked for its health; a receiver that is not asked counts as alive.
    public var isAsked: Bool { driver == .announce || driver == .janus }

    fileprivate var tls: HTTPClientTLS {
        var tls = HTTPClientTLS()
        (tls.certificateAuthority, tls.certificate, tls.privateKey) = (certificateAuthority, certificate, privateKey)
        return tls
    }
}
