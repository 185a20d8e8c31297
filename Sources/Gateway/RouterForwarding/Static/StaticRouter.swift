public import Admission
import EventLoop
import OpenSSL
public import Settings
public import SRTP
public import StageHub
public import Wire

/// The `static` driver: a receiver that cannot be asked, and reads in a file where media will come.
///
/// Shared by all threads; ports are kept per ingest configuration, or per participant where there is none. Descriptions go to
/// `publish`, which runs on the caller's thread and must not block it: give it a mailbox to whoever writes files.
public final class StaticRouter: Sendable {
    public struct Configuration: Sendable, Equatable {
        /// The name in the configuration.
        public var name = "static"
        public var host: IPAddress
        public var ports: ClosedRange<UInt16>
        /// SRTP with its key in the description: ffmpeg takes AES-CM only.
        public var protection: SRTPProfile?

        public init(
            name: String = "static", host: IPAddress = .loopback, ports: ClosedRange<UInt16> = 5004...5103,
            protection: SRTPProfile? = nil
        ) {
            (self.name, self.host, self.ports, self.protection) = (name, host, ports, protection)
        }

        /// Nil when `host` is no IP address.
        public init?(_ name: String, _ settings: RouterSettings) {
            guard let host = IPAddress(settings.host) else { return nil }
            self.init(
                name: name, host: host, ports: UInt16(settings.ports.first)...UInt16(settings.ports.last),
                // What ffmpeg and Janus know; GCM needs a router that is asked.
                protection: settings.srtp ? .aes128CMSHA1_80 : nil)
        }
    }

    public let configuration: Configuration
    private let pairs: Lock<PortPairs>
    private let publish: @Sendable (_ participant: ParticipantKey, _ sdp: String) -> Void

    public init(_ configuration: Configuration, publish: @escaping @Sendable (ParticipantKey, String) -> Void) {
        (self.configuration, self.publish) = (configuration, publish)
        pairs = Lock(PortPairs(configuration.ports))
    }

    /// Assigns ports and publishes the description that exists before any media does.
    /// - Parameter owner: the ingest configuration's ARN.
    /// - Returns: nil when all ports are taken.
    @discardableResult
    public func reserve(for owner: String, _ participant: ParticipantKey) -> String? {
        guard let ports = pairs.withLock({ $0.assign(to: owner) }) else { return nil }
        let text = description(of: participant.participantID, ports, plan: nil, formats: [:]).text
        publish(participant, text)
        return text
    }

    /// Gives the ports back: the ingest configuration was deleted, or the participant of a token (`ParticipantKey.name`) left.
    public func release(_ owner: String) { pairs.withLock { $0.release(owner) } }

    /// The first port of each owner, for the process that takes our place.
    public var reservations: [String: UInt16] { pairs.withLock { $0.assigned } }

    /// Goes on with the ports that a process before us gave to an owner.
    public func adopt(_ port: UInt16, of owner: String) { pairs.withLock { $0.adopt(port, of: owner) } }

    /// Forwards a publication to its ports from now on.
    /// - Returns: nil when all ports are taken.
    public func attach(_ publication: Publication, socket: RouterSocket) -> RouterLeg? {
        let grant = publication.grant
        let owner = grant.ingestConfigurationARN ?? grant.participant.name
        guard let ports = pairs.withLock({ $0.assign(to: owner) }) else { return nil }
        let plan = plan(for: grant.participantID, ports)
        let leg = RouterLeg(publication: publication, socket: socket)
        if grant.ingestConfigurationARN == nil { leg.onEnded = { [self] _ in release(owner) } }
        leg.open(plan)
        publication.add(leg)
        // Only now: formats that are known already need one description together.
        leg.onFormatChanged = { [self, unowned publication] _, _ in describe(publication, ports, plan) }
        if !publication.formats.isEmpty { describe(publication, ports, plan) }
        return leg
    }

    private func describe(_ publication: Publication, _ ports: StaticPorts, _ plan: LegPlan) {
        let participant = publication.grant.participant
        publish(participant, description(of: participant.participantID, ports, plan: plan, formats: publication.formats).text)
    }

    private func plan(for participantID: String, _ ports: StaticPorts) -> LegPlan {
        let tracks = [(TrackID.video, ports.video), (TrackID.audio, ports.audio)].map { track, port in
            TrackPlan(
                track: track, ssrc: .random(in: 1...UInt32.max), payloadType: LegPlan.payloadType(of: track.kind),
                rtp: SocketAddress(configuration.host, port: port),
                rtcp: SocketAddress(configuration.host, port: port + 1))
        }
        var plan = LegPlan(cname: participantID, tracks: tracks)
        plan.router = configuration.name
        plan.keys = configuration.protection.map(SRTPKeys.random)
        return plan
    }

    private func description(
        of participantID: String, _ ports: StaticPorts, plan: LegPlan?, formats: [TrackID: TrackFormat]
    ) -> RouterDescription {
        let tracks = [(TrackID.video, ports.video), (TrackID.audio, ports.audio)].map { track, port in
            RouterDescription.Track(
                track: track, port: port, ssrc: plan?.tracks.first { $0.track == track }?.ssrc, format: formats[track])
        }
        var description = RouterDescription(
            participantID: participantID, sessionVersion: 1, address: configuration.host, tracks: tracks, isOffer: false)
        description.crypto = plan?.keys?.crypto
        return description
    }
}

/// The two even ports of one participant: RTP of video and audio, RTCP one above each.
struct StaticPorts: Sendable, Equatable, Hashable {
    var video: UInt16
    var audio: UInt16 { video + 2 }

    /// Ports that a pair takes.
    static let width = 4
}

/// Gives out port pairs: the lowest free one, and the same one again to an owner that has one.
struct PortPairs: Sendable {
    private let range: ClosedRange<UInt16>
    private var owners: [String: StaticPorts] = [:]

    init(_ range: ClosedRange<UInt16>) { self.range = range }

    /// Nil when all are taken.
    mutating func assign(to owner: String) -> StaticPorts? {
        if let ports = owners[owner] { return ports }
        let taken = Set(owners.values)
        let first = (Int(range.lowerBound) + 1) & ~1
        let last = Int(range.upperBound) - StaticPorts.width + 1
        for port in stride(from: first, through: last, by: StaticPorts.width) {
            let ports = StaticPorts(video: UInt16(port))
            guard !taken.contains(ports) else { continue }
            owners[owner] = ports
            return ports
        }
        return nil
    }

    mutating func release(_ owner: String) { owners[owner] = nil }

    /// The first port of each owner.
    var assigned: [String: UInt16] { owners.mapValues(\.video) }

    /// Goes on with an assignment made elsewhere; one outside the range, or of ports that are taken here, is not kept.
    mutating func adopt(_ port: UInt16, of owner: String) {
        guard range.contains(port), Int(port) + StaticPorts.width - 1 <= Int(range.upperBound) else { return }
        let ports = StaticPorts(video: port)
        if !owners.contains(where: { $0.value == ports && $0.key != owner }) { owners[owner] = ports }
    }
}
