import EventLoop
import GatewayLogging
import Handover
import Settings
import Sockets
import Wire

/// Sockets of one listener that were bound before this process started.
struct GivenSockets {
    var descriptors: [OwnedDescriptor]
    var transport: BoundSocket.Transport
    /// Whether their address counts, whatever the configuration says: systemd's unit decides, whichever process it gave them to;
    /// the configuration of a process before us does not.
    var areBinding: Bool

    /// Nil when there are none.
    init?(_ kind: SocketRole.Kind, _ descriptors: [OwnedDescriptor], areBinding: Bool) {
        guard !descriptors.isEmpty else { return nil }
        (self.descriptors, transport, self.areBinding) = (descriptors, kind == .media ? .udp : .tcp, areBinding)
    }
}

/// Every socket of the node, bound before any is read (docs/design.md 4.2): one of each kind per worker.
struct Listeners {
    var publicHTTP: [BoundSocket] = []
    var publicHTTPS: [BoundSocket] = []
    var rtmp: [BoundSocket] = []
    /// HTTPS, RTMPS and ICE-TCP together.
    var shared: [BoundSocket] = []
    var media: [BoundSocket] = []
    var mediaTCP: [BoundSocket] = []
    var admin: BoundSocket?
    /// Whose address counts, whatever the configuration says, for processes after us too.
    private(set) var activated: Set<SocketRole.Kind> = []

    /// - Parameter given: sockets that are bound already; those that the configuration still asks for are taken.
    init(
        _ configuration: StagedoorConfiguration, workers: Int, given: (SocketRole.Kind) -> GivenSockets? = { _ in nil }
    ) throws {
        var binding: Set<SocketRole.Kind> = []
        func adopted(_ kind: SocketRole.Kind, _ listen: ListenAddress, _ count: Int = workers) throws -> [BoundSocket]? {
            guard let found = given(kind) else { return nil }
            try Self.checkCount(of: found, kind, listen, count)
            guard let sockets = try Self.adopted(found, listen, count) else { return nil }
            if found.areBinding { binding.insert(kind) }
            return sockets
        }
        func group(
            _ kind: SocketRole.Kind, _ listen: ListenAddress, _ key: String, _ count: Int = workers
        ) throws -> [BoundSocket] {
            try adopted(kind, listen, count) ?? Self.group(.tcp, listen, key, count)
        }
        publicHTTP = try group(.http, configuration.http.listen, "http.listen")
        publicHTTPS = try group(.https, configuration.https.listen, "https.listen")
        rtmp = try group(.rtmp, configuration.rtmp.listen, "rtmp.listen")
        shared = try group(.shared, configuration.listen.shared, "listen.shared")
        if let known = try adopted(.media, configuration.media.listen), let first = known.first {
            media = known
            if configuration.media.tcp { mediaTCP = try group(.mediaTCP, ListenAddress(first.localAddress), "media.listen") }
        } else {
            (media, mediaTCP) = try Self.mediaGroups(configuration.media, workers)
        }
        admin = try group(.admin, configuration.admin.listen, "admin.listen", 1).first
        activated = binding
        // A given socket may be bound elsewhere than the configuration says, whose rules saw that alone.
        if configuration.admin.auth == .none, let admin, !admin.localAddress.ip.isLoopback {
            throw StartupError.openAdmin(admin.localAddress)
        }
    }

    /// None of the operator's sockets is ignored: clients that the kernel gave to one that nobody reads would wait for ever.
    private static func checkCount(
        of given: GivenSockets, _ kind: SocketRole.Kind, _ listen: ListenAddress, _ count: Int
    ) throws(StartupError) {
        let number = given.descriptors.count
        guard given.areBinding, listen.address != nil, ![1, count].contains(number) else { return }
        throw .activationCount(SocketActivation.name(of: kind), given: number, workers: count)
    }

    /// The given sockets when they are what is asked for; any port will do for port 0, and any address when the operator gave
    /// them.
    ///
    /// One for each worker, or one alone: workers can share a TCP listener. A UDP socket they cannot: the kernel would not keep a
    /// peer on one of them, so that one worker has all media.
    private static func adopted(_ given: GivenSockets, _ listen: ListenAddress, _ count: Int) throws -> [BoundSocket]? {
        guard let wanted = listen.address, [1, count].contains(given.descriptors.count) else { return nil }
        let sockets = try given.descriptors.map { try BoundSocket(adopting: $0, given.transport) }
        let isWanted = sockets.allSatisfy { socket in
            let local = socket.localAddress
            let isSamePlace = local.ip == wanted.ip || wanted.ip == .anyV6 && local.ip == .anyV4
            return given.areBinding || isSamePlace && (wanted.port == 0 || wanted.port == local.port)
        }
        guard isWanted else { return nil }
        guard sockets.count < count, given.transport == .tcp else { return sockets }
        return (0..<count).map { _ in sockets[0] }
    }

    /// All of them, for a process that takes our place.
    var handedOver: [(SocketRole, OwnedDescriptor)] {
        let groups: [(SocketRole.Kind, [BoundSocket])] = [
            (.http, publicHTTP), (.https, publicHTTPS), (.rtmp, rtmp), (.shared, shared), (.media, media),
            (.mediaTCP, mediaTCP), (.admin, admin.map { [$0] } ?? []),
        ]
        return groups.flatMap { kind, sockets in
            sockets.enumerated().map { (SocketRole(kind, worker: $0.offset), $0.element.descriptor) }
        }
    }

    /// Those of a running process's sockets that are none of ours: their listener's address has changed, or it is off.
    func unused(of inherited: [SocketRole: OwnedDescriptor]) -> [SocketRole: OwnedDescriptor] {
        let used = Set(handedOver.map { ObjectIdentifier($0.1) })
        return inherited.filter { $0.key.kind.isListener && !used.contains(ObjectIdentifier($0.value)) }
    }

    /// - Throws: when nobody would read any more for live WHIP sessions of the process whose sockets these are.
    func checkMedia(of inherited: [SocketRole: OwnedDescriptor]) throws(HandoverError) {
        if unused(of: inherited).keys.contains(where: { $0.kind == .media }) { throw .mediaMoved }
    }

    /// Where clients come in, by the names of the configuration's sections: for the log.
    var places: [String] {
        let first: [(String, BoundSocket?)] = [
            ("http", publicHTTP.first), ("https", publicHTTPS.first), ("rtmp", rtmp.first), ("shared", shared.first),
            ("media", media.first), ("admin", admin),
        ]
        return first.compactMap { name, socket in socket.map { "\(name) \($0.localAddress)" } }
    }

    /// Every address we listen on: no router may have our media sent there.
    var addresses: Set<SocketAddress> { addresses(onInterfaces: InterfaceAddresses.all) }

    /// - Parameter interfaces: the machine's addresses, at each of which a listener on all of them is.
    func addresses(onInterfaces interfaces: [IPAddress]) -> Set<SocketAddress> {
        let sockets: [BoundSocket] = publicHTTP + publicHTTPS + rtmp + shared + media + mediaTCP + (admin.map { [$0] } ?? [])
        let bound = Set(sockets.map(\.localAddress))
        let further = bound.filter(\.ip.isUnspecified).flatMap { wildcard in
            interfaces.filter { $0.isV4 || !wildcard.ip.isV4 }.map { SocketAddress($0, port: wildcard.port) }
        }
        return bound.union(further)
    }

    /// UDP and TCP of one number. A port that the kernel chose for UDP may be taken for TCP: then another one is asked for.
    private static func mediaGroups(_ settings: MediaSettings, _ count: Int) throws -> ([BoundSocket], [BoundSocket]) {
        var attemptsLeft = settings.listen.address?.port == 0 ? 16 : 1
        while true {
            attemptsLeft -= 1
            let media = try group(.udp, settings.listen, "media.listen", count)
            guard settings.tcp, let local = media.first?.localAddress else { return (media, []) }
            do {
                return (media, try group(.tcp, ListenAddress(local), "media.listen", count))
            } catch  where attemptsLeft > 0 {
                continue
            }
        }
    }

    private static func group(
        _ transport: BoundSocket.Transport, _ listen: ListenAddress, _ key: String, _ count: Int
    ) throws -> [BoundSocket] {
        guard let address = listen.address else { return [] }
        do {
            return try BoundSocket.group(transport, address, count: count)
        } catch {
            throw StartupError.cannotListen(key: key, address: address, transport: transport, reason: error)
        }
    }
}

extension Log {
    /// A listener cannot take connections: no descriptors or memory are left, or it cannot listen again.
    static func cannotAccept(_ listener: String, _ code: CInt) {
        strangerEvent(.error, "accept_failed", ["listener": .string(listener), "errno": .integer(Int(code))])
    }
}
