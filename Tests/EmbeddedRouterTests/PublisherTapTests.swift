import Admission
import EventLoop
import GatewayMetrics
import Refusals
import StageHub
import TestSupport
import Testing
import WebRTCTransport
import Wire

@testable import EmbeddedRouter

@Suite("Publisher's tap")
struct PublisherTapTests {
    let publication = StageBoardTests.publication("alice")
    let source = AskedEncoder()
    let context: EmbeddedRouterContext
    let tap: PublisherTap
    let clock = FakeClock()

    init() throws {
        let transport = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: []), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        context = EmbeddedRouterContext(
            transport: transport, authorizer: Everybody(), workerCount: 1, metrics: EmbeddedRouterMetrics(MetricsRegistry()))
        publication.source = source
        let live = LiveTap(number: 1, key: ParticipantKey("alice", onStage: "s"), worker: 0)
        context.taps.add(live)
        tap = PublisherTap(live, of: publication, context: context) { _ in }
    }

    /// Another publication's.
    func tap(of publication: Publication) -> PublisherTap {
        PublisherTap(tap.live, of: publication, context: context) { _ in }
    }

    /// A feed whose reader wants those layers.
    func feed(_ layers: TrackID...) -> MediaFeed {
        let feed = MediaFeed(to: context.inboxes[0])
        var wanted = LayerSet()
        for layer in layers { wanted.insert(layer) }
        feed.want(wanted)
        tap.add(feed)
        return feed
    }

    /// Forwards a run of that many packets of 1,000 bytes.
    func forward(_ count: Int, of track: TrackID = .video, isKeyframe: Bool = false, from number: Int64 = 0) {
        let payload = [UInt8](repeating: 5, count: 1_000)
        payload.withUnsafeBytes { bytes in
            let packets = (0..<count).map {
                MediaPacket(sequenceNumber: number + Int64($0), timestamp: 0, marker: $0 == count - 1, payload: bytes)
            }
            packets.withUnsafeBufferPointer { packets in
                tap.forward(packets, of: MediaRun(track: track, isKeyframe: isKeyframe, arrival: clock.now))
            }
        }
    }

    @Test func `a long keyframe goes in several blocks, and only the first starts a decoder`() {
        let feed = feed(.video)
        forward(40, isKeyframe: true)
        var blocks: [(count: Int, isKeyframe: Bool)] = []
        feed.drain {
            blocks.append(($0.packets.count, $0.isKeyframe))
            $0.giveBack()
        }
        #expect(blocks.map(\.count) == [16, 16, 8] && blocks.map(\.isKeyframe) == [true, false, false])
    }

    /// Else the rate of a peak stays told until another one is a quarter away from it.
    @Test(.timeLimit(.minutes(10)))
    func `readers hear of rates that moved by less than a quarter after a while`() throws {
        let loop = try EventLoop()
        var told: [Int] = []
        let mailbox = try Mailbox<RouterMessage>(loop: loop) { message in
            if case .layers(_, let layers) = message { told += layers.map(\.bitsPerSecond) }
        }
        context.inboxes[0].open(mailbox.sender)
        _ = feed(.video)
        publication.add(tap)
        publication.setPictureSize(width: 1_280, height: 720, of: .video, at: clock.now)
        publication.tick(at: clock.now)
        // The hub tells of the first, and that the next second differs by an eighth is no news to it.
        for bits in [8_000_000] + Array(repeating: 7_000_000, count: 6) {
            publication.counters[.video].count(byteCount: bits / 8, endsFrame: true)
            clock.advance(by: .seconds(1))
            publication.tick(at: clock.now)
            forward(1)
        }
        #expect(loop.run(until: { told.last == 7_000_000 }, within: .seconds(120)), "\(told)")
        #expect(told.contains(8_000_000))
        withExtendedLifetime(mailbox) {}
    }

    /// All publications that a worker's viewers watch share its inbox.
    @Test(.timeLimit(.minutes(10)))
    func `of sizes that change all the time readers hear some, and soon the last`() throws {
        let loop = try EventLoop()
        var told: [Int] = []
        let mailbox = try Mailbox<RouterMessage>(loop: loop) { message in
            if case .layers(_, let layers) = message { told += layers.map(\.width) }
        }
        context.inboxes[0].open(mailbox.sender)
        _ = feed(.video)
        publication.add(tap)
        for number in 0..<1_000 {
            publication.setPictureSize(width: 320 + 16 * (number % 2), height: 180, of: .video, at: clock.now)
        }
        publication.setPictureSize(width: 640, height: 360, of: .video, at: clock.now)
        clock.advance(by: .seconds(5))
        forward(1)
        #expect(loop.run(until: { told.last == 640 }, within: .seconds(120)), "\(told)")
        #expect(told.count < 100)
        withExtendedLifetime(mailbox) {}
    }

    @Test(.timeLimit(.minutes(10)))
    func `that layers pause readers hear at once, however much else there was to hear`() throws {
        let loop = try EventLoop()
        var told: [VideoLayer] = []
        let mailbox = try Mailbox<RouterMessage>(loop: loop) { message in
            if case .layers(_, let layers) = message { told = layers }
        }
        context.inboxes[0].open(mailbox.sender)
        _ = feed(.video)
        publication.add(tap)
        let low = TrackID(.video, layer: 1)
        publication.setPictureSize(width: 1_280, height: 720, of: .video, at: clock.now)
        for number in 0..<100 {
            publication.setPictureSize(width: 320 + 16 * (number % 2), height: 180, of: low, at: clock.now)
        }
        clock.advance(by: .seconds(2))
        publication.tick(at: clock.now)
        #expect(loop.run(until: { told.map(\.isActive) == [false, false] }, within: .seconds(120)), "\(told)")
        withExtendedLifetime(mailbox) {}
    }

    @Test func `a reader that never reads holds no more than the pool, and the others get everything`() {
        let (dead, live) = (feed(.video), feed(.video))
        var numbers: [Int64] = []
        for frame in 0..<3_000 {
            forward(3, isKeyframe: frame % 60 == 0, from: Int64(frame) * 3)
            clock.advance(by: .milliseconds(16))
            live.drain {
                numbers += $0.packets.map(\.sequenceNumber)
                $0.giveBack()
            }
        }
        #expect(numbers == Array(0..<9_000))
        #expect(dead.skippedCount > 2_900)
    }

    @Test func `frames are copied, handed over, written and kept without an allocation`() throws {
        let feed = feed(.video)
        var (track, store) = (try SubscriberTrackTests.track(.video), RetransmissionStore())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)
        defer { buffer.deallocate() }
        let payload = UnsafeRawBufferPointer(start: buffer.baseAddress, count: 1_000)
        let packet = MediaPacket(sequenceNumber: 0, timestamp: 0, marker: true, payload: payload)
        var packets = [MediaPacket](repeating: packet, count: 20)
        var written = 0
        func pass(frames: Int, readsEvery: Int = 1) {
            for frame in 0..<frames {
                for index in packets.indices { packets[index].sequenceNumber += 20 }
                packets.withUnsafeBufferPointer { packets in
                    tap.forward(packets, of: MediaRun(track: .video, isKeyframe: false, arrival: clock.now))
                }
                clock.advance(by: .milliseconds(16))
                guard frame % readsEvery == readsEvery - 1 else { continue }
                feed.drain { block in
                    track.begin(block, epoch: 1)
                    for packet in block.packets where track.write(packet, of: block, number: 0, into: buffer) != nil {
                        written += 1
                    }
                    store.keep(block)
                }
            }
        }
        pass(frames: 1_000)
        #expect(try AllocationCounter.count { pass(frames: 500) } == 0)
        #expect(written == 1_500 * 20)
        // It catches up after almost half a second without a look, the first time as well.
        #expect(try AllocationCounter.count { pass(frames: 25, readsEvery: 25) } == 0)
        #expect(written == 1_525 * 20)
        store.removeAll()
    }

    static let top = TrackID(.video, layer: 2)

    @Test func `a layer that nobody wants is copied for nobody`() {
        let (low, high) = (feed(.video), feed(.video, Self.top))
        forward(1, isKeyframe: true)
        forward(1, of: Self.top, isKeyframe: true)
        forward(1, of: TrackID(.video, layer: 1), isKeyframe: true)
        func drained(_ feed: MediaFeed) -> [TrackID] {
            var tracks: [TrackID] = []
            feed.drain {
                tracks.append($0.track)
                $0.giveBack()
            }
            return tracks
        }
        #expect(drained(low) == [.video] && drained(high) == [.video, Self.top])
        #expect(low.skippedCount == 0, "nothing is missed of what was not wanted")
        high.want(LayerSet())
        forward(1, of: Self.top)
        #expect(drained(high).isEmpty)
    }

    /// Fifty viewers that lose every picture.
    @Test func `each layer's keyframes are asked for twice a second at most, however many ask`() {
        for _ in 0..<100 {
            for viewer in 0..<50 { tap.requestKeyframe(of: viewer % 3 == 0 ? Self.top : .video, at: clock.now) }
            clock.advance(by: .milliseconds(10))
        }
        #expect(source.requests.count { $0 == Self.top } == 2 && source.requests.count { $0 == .video } == 2)
        source.canRequestKeyframe = false
        clock.advance(by: .seconds(1))
        tap.requestKeyframe(of: .video, at: clock.now)
        #expect(source.requests.count == 4, "an RTMP encoder cannot be asked")
    }

    /// Its viewers begin with the keyframe that waited for them, and do not hear that what came behind it was left out.
    @Test func `for a reader that lagged past a keyframe another one is asked for`() {
        let feed = feed(.video)
        forward(1)
        forward(1, isKeyframe: true, from: 1)
        clock.advance(by: .milliseconds(501))
        forward(1, from: 2)
        #expect(source.requests == [.video])
        forward(1, isKeyframe: true, from: 3)
        #expect(feed.drained() == [0, 1], "the keyframe came while it lagged")
        clock.advance(by: .milliseconds(501))
        forward(1, from: 4)
        #expect(source.requests == [.video, .video])
        forward(1, isKeyframe: true, from: 5)
        #expect(feed.drained() == [5])
    }

    @Test func `a publication that ended is found no longer, unless another took its place`() {
        tap.ended(.closed)
        #expect(context.taps[tap.live.key] == nil)
        let next = LiveTap(number: 2, key: tap.live.key, worker: 0)
        context.taps.add(next)
        tap.ended(.takenOver)
        #expect(context.taps[tap.live.key] == next)
    }
}

final class AskedEncoder: MediaSource {
    var canRequestKeyframe = true
    var requests: [TrackID] = []
    func requestKeyframe(_ track: TrackID) { requests.append(track) }
    func limitBitrate(_ bitsPerSecond: Int?) {}
}

struct Everybody: SubscribeAuthorizer {
    func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) { reply(.success(SubscribeGrant(participantID: "viewer", stageARN: "arn/s", stageID: request.stageID))) }
}
