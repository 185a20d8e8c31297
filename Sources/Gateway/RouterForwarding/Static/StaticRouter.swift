public import Admission
import EventLoop
import OpenSSL
public import SRTP
public import StageHub
public import Wire

/// The `static` driver: a receiver that cannot be asked, told by a file where media will come.
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

    /// The first port of each owner, for a process that goes on with this router.
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
