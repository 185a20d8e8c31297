import Admission
import GatewayMetrics
import Refusals
package import SDP
package import StageHub
import WebRTCTransport
import Wire

/// A publication's tap and one viewer of it, all but the session's sockets and SRTP: what watching
/// costs, for the benchmark's steps.
@safe package final class ViewerPassage {
    private let tap: PublisherTap
    private let feed: MediaFeed
    private var track: SubscriberTrack?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)

    /// - Parameter offer: the viewer's; nil: nobody watches.
    package init(of publication: Publication, offer: SessionDescription?) throws {
        let metrics = MetricsRegistry()
        let transport = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: []), workerCount: 1, metrics: TransportMetrics(metrics))
        let context = EmbeddedRouterContext(
            transport: transport, authorizer: Nobody(), workerCount: 1, metrics: EmbeddedRouterMetrics(metrics))
        let live = LiveTap(number: 1, key: ParticipantKey("p", onStage: "s"), worker: 0)
        tap = PublisherTap(live, of: publication, context: context) { _ in }
        feed = MediaFeed(to: context.inboxes[0])
        publication.add(tap)
        guard let offer, let section = try SubscriberOffer(negotiating: offer).section(.video) else { return }
        track = SubscriberTrack(section, SubscriberSources(video: 1, retransmission: 2, audio: 3), random: (0, 0))
        feed.want(.all)
        tap.add(feed)
    }

    deinit { unsafe buffer.deallocate() }

    package func read() {
        feed.drain { block in
            track?.begin(block, epoch: 0)
            for packet in block.packets { _ = unsafe track?.write(packet, of: block, number: 0, into: buffer) }
            block.giveBack()
        }
    }
}

private struct Nobody: SubscribeAuthorizer {
    func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) { reply(.failure(Refusal(.authorityUnavailable))) }
}
