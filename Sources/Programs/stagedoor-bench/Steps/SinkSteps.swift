import DTLS
import EmbeddedRouter
import EventLoop
import Recording
import RedundantIngest
import Replication
import RouterForwarding
import SDP
import StageHub
import Wire

/// Packets from the hub to the kernel: numbering, the batch, and segmented sends to a port that nobody reads.
final class ForwardingStep: MediaStep {
    /// What the router takes of the layers.
    enum Router { case everyLayer, best }

    /// More than 64 packets at once would be spread over time.
    private static let pictureCount = 6

    let operations: Int
    private let loop: EventLoop
    private let leg: RouterLeg
    /// Brings the pictures in a turn of the loop, as encoders' come: at its end their runs leave together.
    private let turn: TimerWatch

    init(layerCount: UInt8 = 1, to router: Router = .best) throws {
        operations = Self.pictureCount * SyntheticMedia.packetsInPicture * Int(layerCount)
        loop = try EventLoop()
        let media = SyntheticMedia(layerCount: layerCount)
        let publication = media.makePublication()
        leg = RouterLeg(
            publication: publication, socket: try RouterSocket(loop: loop, address: SocketAddress(.loopback, port: 0)))
        turn = loop.schedule(after: .zero) { [unowned loop] in
            media.bring(Self.pictureCount, to: publication)
            loop.stop()
        }
        publication.add(leg)
        let nowhere = SocketAddress(.loopback, port: 9)
        let tracks = (0..<(router == .best ? 1 : layerCount)).map { layer in
            var plan = TrackPlan(
                track: TrackID(.video, layer: layer), ssrc: 7 + UInt32(layer), payloadType: 96, rtp: nowhere, rtcp: nowhere)
            plan.isLayer = router == .everyLayer
            return plan
        }
        leg.open(LegPlan(cname: "p", tracks: tracks))
    }

    func round() {
        turn.rearm(after: .zero)
        loop.run()
    }

    /// What goes out within 8 ms counts as one burst.
    func rest() { _ = loop.run(until: { false }, within: .milliseconds(9)) }
}

/// Packets copied for their recording, and read once a second by a writer that does nothing with them.
final class RecordingStep: MediaStep {
    let operations = SyntheticMedia.packetsInSecond
    private let media = SyntheticMedia()
    private let publication: Publication
    private let passage: RecordingPassage

    init() {
        publication = media.makePublication()
        passage = RecordingPassage(of: publication)
    }

    func round() {
        media.bring(to: publication)
        passage.read()
    }
}

/// Packets that pass the embedded router's tap; with a viewer they are copied, read, numbered and written for it, all but SRTP.
final class ViewerStep: MediaStep {
    let operations = SyntheticMedia.packetsInSecond
    private let media = SyntheticMedia()
    private let publication: Publication
    private let passage: ViewerPassage

    init(isWatched: Bool) throws {
        publication = media.makePublication()
        let offer = WHIPOffer(certificate: try .make(), direction: .recvonly)
        passage = try ViewerPassage(of: publication, offer: isWatched ? SessionDescription(parsing: Array(offer.text.utf8)) : nil)
    }

    func round() {
        media.bring(to: publication)
        passage.read()
    }
}

/// Packets of two encoders that are one participant: both are copied, one is forwarded, the other is kept.
final class JoinStep: MediaStep {
    let operations = 2 * SyntheticMedia.packetsInSecond
    private let media = [SyntheticMedia(), SyntheticMedia()]
    private let publications: [Publication]
    private let passage: JoinPassage

    init() {
        publications = media.map { $0.makePublication() }
        passage = JoinPassage(publications, joined: SyntheticMedia().makePublication())
    }

    func round() {
        for (media, publication) in zip(media, publications) {
            media.bring(to: publication)
            passage.read()
        }
    }
}

/// Packets handed on to another stage.
final class ReplicaStep: MediaStep {
    let operations = SyntheticMedia.packetsInSecond
    private let media = SyntheticMedia()
    private let publication: Publication

    init() {
        publication = media.makePublication()
        ReplicaPassage.open(from: publication, to: media.makePublication())
    }

    func round() { media.bring(to: publication) }
}
