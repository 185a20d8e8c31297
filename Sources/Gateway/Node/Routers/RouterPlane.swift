import Admission
import Cluster
import DataDirectory
import EventLoop
import Foundation
import GatewayLogging
import HTTPClient
import RouterForwarding
import Settings
import SRTP
import Wire

/// The control loop's side of forwarding: a driver for each `announce` and `janus` router, and the placement of stages on them.
final class RouterPlane {
    /// What of the node takes part.
    struct Environment {
        var membership: Membership
        var gate: AdmissionGate
        var outOfReach: StagesOutOfReach
        var metrics: RouterMetrics
    }

    let control: RouterControl
    private var reach: TimerWatch?

    /// Nil when the configuration names no router that is asked: then there is nothing to place.
    init?(
        _ configuration: StagedoorConfiguration, loop: EventLoop, ownListeners: Set<SocketAddress>,
        _ environment: Environment, directory: borrowing DataDirectory
    ) throws {
        let client = HTTPClient(loop: loop)
        let usesJanus = configuration.routers.values.contains { $0.driver == .janus }
        let ownership = MountpointOwnership(
            key: usesJanus ? try MountpointKey.load(configuration.cluster, from: directory) : Secret(""))
        let drivers = try configuration.routers.sorted { $0.key < $1.key }.compactMap { name, settings in
            try Self.driver(name, settings, client: client, ownListeners: ownListeners, ownership: ownership)
        }
        guard !drivers.isEmpty else { return nil }
        control = try RouterControl(
            loop: loop, drivers: drivers, placements: try Self.placements(loop, environment.membership),
            replicas: configuration.forwarding.replicas)
        control.onStory = { [metrics = environment.metrics] story in
            metrics.note(story)
            story.log()
        }
        // A receiver that cannot be asked always counts as alive: it takes what comes.
        guard configuration.routers.values.allSatisfy({ $0.driver == .announce || $0.driver == .janus }) else { return }
        control.onAvailabilityChanged = { [gate = environment.gate] isAvailable in
            gate.set(.noRouter, !isAvailable)
            Log.event(isAvailable ? .info : .error, "routers_available", ["available": .bool(isAvailable)])
        }
        if case .member(let cluster) = environment.membership { watchReach(loop, cluster, environment.outOfReach) }
    }

    /// Once a second: which routers are dead for this node alone.
    private func watchReach(_ loop: EventLoop, _ cluster: ClusterContext, _ stages: StagesOutOfReach) {
        var reach = RouterReach()
        self.reach = loop.schedule(after: .seconds(1), repeating: .seconds(1)) { [control, unowned loop] in
            let dead = Set(control.status.filter(\.isDead).map(\.name))
            let routers = reach.outOfReach(dead: dead, seenByOthers: cluster.routersSeenByOthers, at: loop.now)
            guard stages.set(routers) else { return }
            Log.event(routers.isEmpty ? .info : .error, "routers_out_of_reach", ["routers": .strings(routers.sorted())])
        }
    }

    private static func placements(_ loop: EventLoop, _ membership: Membership) throws -> any PlacementStore {
        guard case .member(let cluster) = membership else { return LocalPlacements() }
        return try SharedPlacements(loop: loop, store: cluster.store) { cluster.routersSeenByOthers.contains($0) }
    }

    private static func driver(
        _ name: String, _ settings: RouterSettings, client: HTTPClient, ownListeners: Set<SocketAddress>,
        ownership: MountpointOwnership
    ) throws -> (any RouterDriver)? {
        guard settings.driver == .announce || settings.driver == .janus else { return nil }
        var tls = HTTPClientTLS()
        (tls.certificateAuthority, tls.certificate, tls.privateKey) = (
            settings.certificateAuthority, settings.certificate, settings.privateKey
        )
        let http = RouterHTTPClient(client, tls: tls, router: name)
        let addresses = try RouterAddress.resolve(settings.url, router: name)
        let networks =
            settings.media.isEmpty ? addresses.compactMap { IPNetwork($0, prefixLength: $0.isV4 ? 32 : 128) } : settings.media
        let trust = RouterTrust(networks: networks, ownListeners: ownListeners)
        let token = settings.token.isEmpty ? nil : settings.token
        if settings.driver == .announce {
            var announce = AnnounceDriver.Configuration(
                name: name, url: settings.url, bearer: token, trust: trust,
                protection: settings.srtp ? .aeadAES128GCM : nil)
            announce.sourceAddress = RouterAddress.source(toward: addresses[0]) ?? .loopback
            return AnnounceDriver(announce, gatewayID: "\(ProcessInfo.processInfo.hostName)-\(getpid())", http: http)
        }
        let media = IPAddress(settings.host) ?? addresses[0]
        var janus = JanusDriver.Configuration(
            name: name, url: settings.url, mediaAddress: media, trust: trust, ownership: ownership)
        (janus.apiSecret, janus.isProtected) = (token, settings.srtp)
        return JanusDriver(janus, http: http)
    }
}

/// Where a router's URL leads, asked once at start: its media may come from there unless the configuration says otherwise.
enum RouterAddress {
    /// The address of ours that the kernel would send from; nothing is sent to find out.
    static func source(toward address: IPAddress) -> IPAddress? {
        var hints = addrinfo()
        (hints.ai_flags, hints.ai_socktype) = (AI_NUMERICHOST, CInt(SOCK_DGRAM.rawValue))
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo("\(address)", "9", &hints, &list) == 0, let entry = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        let descriptor = socket(entry.ai_family, CInt(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { own in
                getsockname(descriptor, own, &length) == 0 ? InterfaceAddresses.ip(own) : nil
            }
        }
    }

    static func resolve(_ url: String, router: String) throws -> [IPAddress] {
        guard let host = URLComponents(string: url)?.host?.trimmingCharacters(in: ["[", "]"]), !host.isEmpty else {
            throw StartupError.router("routers.\(router).url: “\(url)” has no host")
        }
        let addresses = HostAddresses.resolve(host)
        guard !addresses.isEmpty else { throw StartupError.router("routers.\(router).url: “\(host)” cannot be resolved") }
        return addresses
    }
}
