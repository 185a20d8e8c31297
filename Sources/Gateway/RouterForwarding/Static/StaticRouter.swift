public import Admission
import EventLoop
import OpenSSL
import Refusals
public import SRTP
public import Settings
public import StageHub
public import Wire

/// The `static` driver: a receiver that cannot be asked, and reads in a file where media will come.
///
/// Shared by all threads; ports are kept per ingest configuration, or per participant where there is none. Descriptions go to
/// `publish`, which like `forget` runs on the caller's thread and must not block it: give them a mailbox to whoever writes files.
public final class StaticRouter: Sendable {
    public struct Configuration: Sendable, Equatable {
        /// The name in the configuration.
        public var name = "static"
        public var host: IPAddress
        public var ports: ClosedRange<UInt16>
        /// SRTP with its key in the description: ffmpeg takes AES-CM only.
        public var protection: SRTPProfile?
        /// Each layer has a port and an m-line of its own; without, the best that lives goes out.
        public var sendsLayers = false

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
            sendsLayers = settings.sendsLayers
        }
    }

    public let configuration: Configuration
    private let pairs: Lock<PortPairs>
    private let publish: @Sendable (_ participant: ParticipantKey, _ sdp: String) -> Void
    /// The participant will not come again: by its description receivers would wait where others' media arrives.
    public let forget: @Sendable (_ participant: ParticipantKey) -> Void

    public init(
        _ configuration: Configuration, publish: @escaping @Sendable (ParticipantKey, String) -> Void,
        forget: @escaping @Sendable (ParticipantKey) -> Void = { _ in }
    ) {
        (self.configuration, self.publish, self.forget) = (configuration, publish, forget)
        pairs = Lock(
            PortPairs(configuration.ports, width: configuration.sendsLayers ? StaticPorts.layeredWidth : StaticPorts.width))
    }

    /// Assigns ports and publishes the description that exists before any media does.
    /// - Parameter owner: the ingest configuration's ARN.
    /// - Returns: nil when all ports are taken.
    @discardableResult
    public func reserve(for owner: String, _ participant: ParticipantKey) -> String? {
        guard let ports = pairs.withLock({ $0.assign(to: owner) }) else { return nil }
        let tracks = [MediaKind.video, .audio].map { RouterDescription.Track($0, port: ports[TrackID($0)]) }
        let text = description(of: participant.participantID, tracks).text
        publish(participant, text)
        return text
    }

    /// Gives the ports back: the ingest configuration was deleted, or the participant of a token (`ParticipantKey.name`) left.
    /// Those of a participant that is forwarded here stay its own.
    public func release(_ owner: String) { pairs.withLock { $0.release(owner) } }

    /// The first port of each owner, for the process that takes our place.
    public var reservations: [String: UInt16] { pairs.withLock { $0.assigned } }

    /// Goes on with the ports that a process before us gave to an owner.
    public func adopt(_ port: UInt16, of owner: String) { pairs.withLock { $0.adopt(port, of: owner) } }

    /// Forwards a publication to its ports, which are its own from now on; its leg is made with its first format.
    /// - Returns: false when all ports are taken.
    public func attach(_ publication: Publication, socket: RouterSocket) -> Bool {
        let (grant, configurationARN) = (publication.grant, publication.grant.ingestConfigurationARN)
        let owner = configurationARN ?? grant.participant.name
        // A configuration keeps its ports, a token's participant has them for as long as it publishes.
        let assigned = pairs.withLock { configurationARN == nil ? $0.borrow(owner) : $0.assign(to: owner) }
        guard let ports = assigned else { return false }
        let borrower = configurationARN == nil ? owner : nil
        publication.add(observer: StaticForwarding(publication, to: ports, by: self, through: socket, borrower: borrower))
        return true
    }

    /// Makes the leg of a publication, and has its description follow what is known of it, until that ends. Confined to the
    /// publication's worker.
    private final class StaticForwarding: PublicationObserver {
        /// Holds its observers until it ends.
        private unowned let publication: Publication
        private let ports: StaticPorts
        private let router: StaticRouter
        private let socket: RouterSocket
        /// Who has ports only as long as it publishes.
        private let borrower: String?
        /// Of the leg; nil before the first format.
        private var plan: LegPlan?
        private var leg: RouterLeg?
        /// As it was published last.
        private var described = ""
        /// An encoder's parameter sets may differ in every picture, and a description costs as much as many packets.
        private var changes = Allowance(maximumChangesAtOnce, then: changeInterval)
        /// For the change that was one too many.
        private var waiting: TimerWatch?

        init(
            _ publication: Publication, to ports: StaticPorts, by router: StaticRouter, through socket: RouterSocket,
            borrower: String?
        ) {
            (self.publication, self.ports, self.router) = (publication, ports, router)
            (self.socket, self.borrower) = (socket, borrower)
        }

        func formatChanged(_ track: TrackID, to format: TrackFormat) { describe() }
        func layersChanged() { describe() }

        private func describe() {
            guard !publication.formats.isEmpty else { return }
            let plan = plan ?? openLeg()
            guard changes.take(at: socket.loop.now) else { return describeLater() }
            let text = router.description(of: publication, plan).text
            guard text != described else { return }
            described = text
            router.publish(publication.grant.participant, text)
        }

        private func describeLater() {
            guard waiting == nil else { return }
            waiting = socket.loop.schedule(after: Self.changeInterval) { [unowned self] in
                waiting = nil
                describe()
            }
        }

        /// Every format is known before media of it comes, and many a publish that is tried never comes to any.
        private func openLeg() -> LegPlan {
            let plan = router.plan(for: publication.grant.participantID, ports)
            let leg = RouterLeg(publication: publication, socket: socket)
            (self.plan, self.leg) = (plan, leg)
            leg.open(plan)
            publication.add(leg)
            return plan
        }

        func ended(_ reason: SessionEnd) {
            waiting = nil
            // Before anybody else has its ports.
            leg?.close()
            if let borrower { router.pairs.withLock { $0.giveBack(borrower) } }
        }

        /// Three layers and sound take some twelve until all is known of them.
        private static let maximumChangesAtOnce = 20
        private static let changeInterval = Duration.seconds(1)
    }

    private func description(of publication: Publication, _ plan: LegPlan) -> RouterDescription {
        var description = description(of: publication.grant.participantID, tracks(of: publication, plan))
        description.crypto = plan.keys?.crypto
        return description
    }

    private func plan(for participantID: String, _ ports: StaticPorts) -> LegPlan {
        let places = configuration.sendsLayers ? PublishCounters.maximumLayerCount : 1
        let tracks = (0..<places).map { TrackID(.video, layer: UInt8($0)) } + [.audio]
        var plan = LegPlan(
            cname: participantID,
            tracks: tracks.map { track in
                var planned = TrackPlan(
                    track: track, ssrc: .random(in: 1...UInt32.max), payloadType: LegPlan.payloadType(of: track.kind),
                    rtp: SocketAddress(configuration.host, port: ports[track]),
                    rtcp: SocketAddress(configuration.host, port: ports[track] + 1))
                planned.isLayer = places > 1 && track.kind == .video
                return planned
            })
        plan.router = configuration.name
        plan.keys = configuration.protection.map(SRTPKeys.random)
        return plan
    }

    /// An m-line for each track of the plan that there is, and for video in any case; layers best first.
    private func tracks(of publication: Publication, _ plan: LegPlan) -> [RouterDescription.Track] {
        func line(_ track: TrackID, _ format: TrackFormat?) -> RouterDescription.Track? {
            plan.tracks.first { $0.track == track }.map {
                RouterDescription.Track(track.kind, port: $0.rtp.port, ssrcs: [$0.ssrc], format: format)
            }
        }
        let audio = [line(.audio, publication.formats[.audio])]
        let layers = publication.layers
        guard configuration.sendsLayers, !layers.isEmpty else {
            return ([line(.video, publication.videoFormat)] + audio).compactMap { $0 }
        }
        let video = layers.map { layer in
            var track = line(layer.track, publication.formats[layer.track])
            track?.label = layers.count > 1 ? layer.name : nil
            return track
        }
        return (video + audio).compactMap { $0 }
    }

    private func description(of participantID: String, _ tracks: [RouterDescription.Track]) -> RouterDescription {
        RouterDescription(
            participantID: participantID, sessionVersion: 1, address: configuration.host, tracks: tracks, isOffer: false)
    }
}
