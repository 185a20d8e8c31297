import EventLoop
import H264
import RTP
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter

/// One publisher's three layers, whose clocks and numbers begin anywhere, through a tap and a feed to one viewer's track.
private final class Encoder {
    let publication = StageBoardTests.publication("alice")
    private var numbers: [Int64] = [40_000, 7, 65_530]
    private var random = SplitMix64(seed: 5)
    private static let zeros: [Int64] = [1 << 40, 90_000_000, 5_000]
    /// Picture by picture, 30 a second.
    private(set) var pictureCount: Int64 = 0

    /// One picture of each layer, in any order: its NAL unit type, layer and number stand in the payload.
    func sendPictures(keyframesOf layers: Set<UInt8>, at now: MonotonicTime) {
        for layer in ([0, 1, 2] as [UInt8]).shuffled(using: &random) {
            send(layer, isKeyframe: layers.contains(layer), at: now)
        }
        pictureCount += 1
    }

    private func send(_ layer: UInt8, isKeyframe: Bool, at now: MonotonicTime) {
        let (track, timestamp) = (TrackID(.video, layer: layer), Self.zeros[Int(layer)] + pictureCount * 3_000)
        publication.timeline.observe(timestamp, of: track, arrival: now)
        let count = isKeyframe ? 20 : 3
        let payload: [UInt8] = [isKeyframe ? 0x65 : 0x41, layer] + Array(repeating: 9, count: 300)
        payload.withUnsafeBytes { bytes in
            let packets = (0..<count).map { index in
                MediaPacket(
                    sequenceNumber: numbers[Int(layer)] + Int64(index), timestamp: timestamp, marker: index == count - 1,
                    payload: bytes)
            }
            packets.withUnsafeBufferPointer {
                publication.forward($0, of: MediaRun(track: track, isKeyframe: isKeyframe, arrival: now))
            }
        }
        numbers[Int(layer)] += Int64(count)
    }
}

@Suite("Layer switching")
struct LayerSwitchingTests {
    private struct Sent: Equatable {
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var isKeyframe: Bool
        var layer: UInt8
        var marker: Bool
    }

    /// What a session does with a block.
    private struct Viewer: ~Copyable {
        var layers = LayerSwitch()
        var track: SubscriberTrack
        var sent: [Sent] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)

        init(_ track: SubscriberTrack) { self.track = track }
        deinit { buffer.deallocate() }

        mutating func take(_ block: MediaBlock) throws {
            switch layers.passage(of: block.run) {
            case .rests: return
            case .begins(let former?): track.change(shift: block.shift(from: former))
            case .begins(nil), .goesOn: break
            }
            track.begin(block, epoch: 1)
            for packet in block.packets {
                guard let count = track.write(packet, of: block, number: 0, into: buffer) else { continue }
                let bytes = Array(buffer[..<count])
                let header = try RTPHeader(parsing: bytes.span.bytes)
                let payload = bytes[header.payload(inPacketOf: count)]
                sent.append(
                    Sent(
                        sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
                        isKeyframe: payload[payload.startIndex] == 0x65, layer: payload[payload.startIndex + 1],
                        marker: header.marker))
            }
        }
    }

    @Test func `a thousand forced switches leave no gap, no jump and no picture that cannot be decoded`() throws {
        let (encoder, clock) = (Encoder(), FakeClock())
        let tap = try PublisherTapTests().tap(of: encoder.publication)
        let feed = MediaFeed(to: RouterInbox(wakeUp: .media))
        feed.want(.all)
        encoder.publication.add(tap)
        tap.add(feed)
        var viewer = Viewer(try SubscriberTrackTests.track(.video))
        var (random, switches, former) = (SplitMix64(seed: 2), 0, UInt8?.none)
        while switches < 1_000 {
            let target = UInt8(random.next() % 3)
            if target != former { switches += 1 }
            former = target
            viewer.layers.aim(at: TrackID(.video, layer: target))
            // Some keyframes come of themselves, of layers that are not waited for.
            let wanted = viewer.layers.wanted.map { [$0.layer] } ?? []
            for picture in 0..<Int(random.next() % 4 + 1) {
                encoder.sendPictures(keyframesOf: picture == 0 ? Set(wanted + [UInt8(random.next() % 3)]) : [], at: clock.now)
                clock.advance(by: .milliseconds(33))
            }
            var taken: [MediaBlock] = []
            feed.drain { taken.append($0) }
            for block in taken {
                try viewer.take(block)
                block.giveBack()
            }
        }
        try Self.judge(viewer.sent)
    }

    private static func judge(_ sent: [Sent]) throws {
        #expect(sent.count > 5_000 && sent[0].isKeyframe)
        var switches = 0
        for (last, next) in zip(sent, sent.dropFirst()) {
            try #require(next.sequenceNumber == last.sequenceNumber &+ 1, "a gap or a step back")
            let step = Int32(bitPattern: next.timestamp &- last.timestamp)
            try #require(last.marker ? step > 0 && step <= 9_001 : step == 0, "a picture's time: \(step)")
            guard next.layer != last.layer else { continue }
            switches += 1
            try #require(last.marker && next.isKeyframe, "a picture is whole, and the next layer's first is a keyframe")
        }
        #expect(switches >= 900)
    }

    @Test func `a packet from before a layer's keyframe is left out`() throws {
        let tracks = SubscriberTrackTests()
        var viewer = Viewer(try SubscriberTrackTests.track(.video))
        viewer.layers.aim(at: .video)
        try viewer.take(tracks.block(.video, number: 100, timestamp: 9_000))
        let first = try #require(viewer.sent.last)
        viewer.track.change(shift: 0)
        let (next, late) = (
            tracks.block(.video, number: 70, timestamp: 12_000), tracks.block(.video, number: 69, timestamp: 9_000)
        )
        try viewer.take(next)
        try viewer.take(late)
        #expect(viewer.sent.count == 2 && viewer.sent[1].sequenceNumber == first.sequenceNumber &+ 1)
    }
}
