import Admission
import GatewayMetrics
import H264
import MediaContract
import RTCP
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Media receiver")
struct MediaReceiverTests {
    static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 9_000_000_000 + milliseconds * 1_000_000)
    }

    /// A receiver of a captured offer, before it has the lease.
    private func waitingReceiver(_ fixture: String) throws -> MediaReceiver {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named(fixture).body))
        return MediaReceiver(offer: offer, metrics: WHIPMetrics(MetricsRegistry()))
    }

    private func publication() -> Publication {
        let grant = PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1)
        return Publication(grant: grant, lease: lease, ingestProtocol: .whip, timeline: Timeline())
    }

    /// A receiver of a captured offer, its publication begun, and what it forwards.
    private func receiver(_ fixture: String) throws -> (MediaReceiver, ForwardedMedia) {
        let (receiver, publication, output) = (try waitingReceiver(fixture), publication(), ForwardedMedia())
        publication.add(RecordingSink("p", worker: 0, output))
        receiver.begin(publication, inspector: nil, at: Self.time(0))
        return (receiver, output)
    }

    /// An RTP packet whose one-byte header extension `id` holds `text`.
    private func packet(
        _ payloadType: UInt8, ssrc: UInt32, number: UInt16, timestamp: UInt32, id: UInt8 = 10, rid text: String? = nil,
        _ payload: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(text == nil ? 0x80 : 0x90))
        writer.write(0x80 | payloadType)
        writer.write(number)
        writer.write(timestamp)
        writer.write(ssrc)
        if let text {
            let element = [id << 4 | UInt8(text.utf8.count - 1)] + Array(text.utf8)
            let padding = [UInt8](repeating: 0, count: (4 - element.count % 4) % 4)
            writer.write(UInt16(0xBEDE))
            writer.write(UInt16((element.count + padding.count) / 4))
            writer.write(contentsOf: element + padding)
        }
        return writer.bytes + payload
    }

    private func feed(_ receiver: MediaReceiver, _ packet: [UInt8], at milliseconds: Int64) {
        packet.withUnsafeBytes { bytes in
            if case .gathered = receiver.receive(bytes, at: Self.time(milliseconds)) { receiver.handOver() }
        }
    }

    @Test func `of a simulcast every layer goes on with its own numbers, and is asked for its own keyframe`() throws {
        let (receiver, output) = try receiver("chromium-156.0.8078.79-simulcast")
        feed(receiver, packet(108, ssrc: 3, number: 100, timestamp: 0, rid: "l", [0x65, 1]), at: 0)
        feed(receiver, packet(108, ssrc: 3, number: 101, timestamp: 3_000, rid: "l", [0x41, 1]), at: 33)
        feed(receiver, packet(108, ssrc: 1, number: 900, timestamp: 50_000, rid: "h", [0x41, 1]), at: 40)
        let asked = try Self.packets(receiver.feedback(at: Self.time(41))).compactMap {
            if case .pictureLoss(let request) = $0 { request.mediaSSRC } else { nil }
        }
        #expect(asked == [1], "the layer without a keyframe, and no other")
        feed(receiver, packet(108, ssrc: 1, number: 901, timestamp: 53_000, rid: "h", [0x65, 1]), at: 73)
        feed(receiver, packet(108, ssrc: 3, number: 102, timestamp: 6_000, rid: "l", [0x41, 1]), at: 74)
        feed(receiver, packet(108, ssrc: 1, number: 902, timestamp: 56_000, [0x41, 1]), at: 106)
        #expect(output["p"]?.layers == [0: [900, 901, 902], 2: [100, 101, 102]])
        #expect(output["p"]?.keyframes == 2)
        #expect(receiver.reception.sources.count == 3, "with the audio source that the offer names")
        #expect(receiver.figures.layers.map { "\($0.rid) \($0.track.received)" } == ["h 3", "m 0", "l 3"])
    }

    /// A picture's packets, all of one time; every one comes in a batch of its own, with sound between them.
    private func feed(_ receiver: MediaReceiver, picture number: UInt16, from first: UInt16, _ payloads: [[UInt8]]) {
        for (index, payload) in payloads.enumerated() {
            let place = first + UInt16(index)
            feed(
                receiver, packet(96, ssrc: 4_005_686_104, number: place, timestamp: UInt32(number) * 3_000, payload),
                at: Int64(number) * 33)
            feed(
                receiver, packet(111, ssrc: 4_005_686_103, number: place, timestamp: UInt32(place) * 960, [1, 2]),
                at: Int64(number) * 33)
        }
    }

    @Test
    func `an IDR slice makes a keyframe, which begins with its parameter sets, and a set before another picture makes none`()
        throws
    {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        let (sets, sei, idr): ([[UInt8]], [UInt8], [UInt8]) = (
            [TestClient.sequenceSet, TestClient.pictureSet], [6, 1], [0x65, 1]
        )
        feed(receiver, picture: 0, from: 0, sets + [idr, idr])
        #expect(output["p"]?.keyframes == 1 && output["p"]?.keyframeStart == 0)
        feed(receiver, picture: 1, from: 4, sets + [sei, [0x41, 1]])
        #expect(output["p"]?.keyframes == 1)
        #expect(output["p"]?.video == Array(0..<8) && output["p"]?.audio == Array(0..<8))
        feed(receiver, picture: 2, from: 8, [[0x41, 1]])
        feed(receiver, picture: 3, from: 9, sets + [sei, idr])
        #expect(output["p"]?.keyframes == 2 && output["p"]?.keyframeStart == 9)
        feed(receiver, picture: 4, from: 13, [idr])
        #expect(output["p"]?.keyframes == 3 && output["p"]?.keyframeStart == 13, "the sets hold still")
        feed(receiver, picture: 5, from: 15, [idr])
        #expect(output["p"]?.keyframes == 3, "what was lost before it may have been its sets")
        #expect(output["p"]?.video == Array(0..<14) + [15])
    }

    @Test func `what comes late of a picture before goes by those that wait, and late sets wait for their own slice`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        func send(_ number: UInt16, timestamp: UInt32, _ payload: [UInt8]) {
            feed(receiver, packet(96, ssrc: 4_005_686_104, number: number, timestamp: timestamp, payload), at: 100)
        }
        let sets = [TestClient.sequenceSet, TestClient.pictureSet]
        feed(receiver, picture: 0, from: 0, sets + [[0x65, 1]])
        feed(receiver, picture: 2, from: 6, sets)
        send(5, timestamp: 3_000, [0x41, 1])
        send(3, timestamp: 3_000, TestClient.sequenceSet)
        #expect(output["p"]?.video == [0, 1, 2, 5, 3])
        send(8, timestamp: 6_000, [0x65, 1])
        #expect(output["p"]?.video == [0, 1, 2, 5, 3, 6, 7, 8])
        #expect(output["p"]?.keyframes == 2 && output["p"]?.keyframeStart == 6)
        // The last part of an IDR slice, then its sets, then its first part.
        send(11, timestamp: 9_000, [0x7C, 0x45, 1])
        send(9, timestamp: 9_000, TestClient.sequenceSet)
        send(10, timestamp: 9_000, [0x7C, 0x85, 1])
        #expect(output["p"]?.video.suffix(3) == [11, 9, 10])
        // Sets behind which their picture never comes.
        send(12, timestamp: 12_000, TestClient.sequenceSet)
        send(14, timestamp: 15_000, TestClient.sequenceSet)
        send(15, timestamp: 15_000, [0x65, 1])
        #expect(output["p"]?.video.suffix(3) == [12, 14, 15])
        #expect(output["p"]?.keyframes == 3 && output["p"]?.keyframeStart == 14)
    }

    @Test func `parameter sets that came before the lease are the publish's`() throws {
        let (receiver, publication) = (try waitingReceiver("obs-32.2.2-ldc0.21.0"), publication())
        let sets = [TestClient.sequenceSet, TestClient.pictureSet]
        feed(receiver, picture: 0, from: 0, sets + [[0x65, 1]])
        receiver.begin(publication, inspector: nil, at: Self.time(20))
        #expect(publication.formats[.video] == .h264(sps: sets[0], pps: sets[1]))
        feed(receiver, picture: 1, from: 3, sets + [[0x65, 1]])
        #expect(publication.formats[.video] == .h264(sps: sets[0], pps: sets[1]))
    }

    @Test func `parameter sets that came before the lease tell the size, and are the contract's, too`() throws {
        let (receiver, publication) = (try waitingReceiver("obs-32.2.2-ldc0.21.0"), publication())
        feed(receiver, picture: 0, from: 0, [SPSBuilder().bytes, PPSBuilder().bytes, SliceBuilder(isIDR: true).bytes])
        let publisher = ContractPublisher(credential: "h", source: .loopback, product: "")
        let inspector = ContractSession(context: ContractContext(), ingest: .whip, publisher: publisher)
        receiver.begin(publication, inspector: inspector, at: Self.time(20))
        #expect(publication.layers.map(\.width) == [1_280])
        for number in UInt16(1)...1_000 { feed(receiver, picture: number, from: number + 2, [SliceBuilder().bytes]) }
        #expect(inspector.faults.isEmpty, "that many pictures without sets end a publish")
    }

    /// A retransmission brings it, behind the rest: whoever began there had neither the sets nor that.
    @Test func `a keyframe whose first packet is lost begins with its parameter sets all the same`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        func send(_ number: UInt16, timestamp: UInt32, _ payload: [UInt8]) {
            feed(receiver, packet(96, ssrc: 4_005_686_104, number: number, timestamp: timestamp, payload), at: 100)
        }
        feed(receiver, picture: 0, from: 0, [[0x41, 1], TestClient.sequenceSet, TestClient.pictureSet])
        send(4, timestamp: 0, [0x7C, 0x05, 1])
        #expect(output["p"]?.keyframes == 1 && output["p"]?.keyframeStart == 1)
        send(3, timestamp: 0, [0x7C, 0x85, 1])
        send(5, timestamp: 0, [0x7C, 0x45, 1])
        #expect(output["p"]?.keyframes == 1 && output["p"]?.video == [0, 1, 2, 4, 3, 5])
        // What comes late of it when another one has come begins nothing.
        send(6, timestamp: 3_000, TestClient.sequenceSet)
        send(7, timestamp: 3_000, TestClient.pictureSet)
        send(8, timestamp: 3_000, [0x7C, 0x85, 1])
        send(10, timestamp: 6_000, [0x65, 1])
        send(9, timestamp: 3_000, [0x7C, 0x45, 1])
        #expect(output["p"]?.keyframes == 2 && output["p"]?.keyframeStart == 6)
        #expect(output["p"]?.video.suffix(3) == [8, 10, 9])
        // Nor does its first part, and that other one is not begun anew behind it.
        send(12, timestamp: 9_000, [0x7C, 0x45, 1])
        send(13, timestamp: 12_000, TestClient.sequenceSet)
        send(14, timestamp: 12_000, TestClient.pictureSet)
        send(15, timestamp: 12_000, [0x7C, 0x85, 1])
        send(11, timestamp: 9_000, [0x7C, 0x85, 1])
        send(16, timestamp: 12_000, [0x7C, 0x45, 1])
        #expect(output["p"]?.keyframes == 3 && output["p"]?.keyframeStart == 13)
        #expect(output["p"]?.video.suffix(6) == [12, 13, 14, 15, 11, 16])
    }

    /// Its sets and its first part are lost together, and come again before the last part and behind it.
    @Test(arguments: [[3, 0, 1, 2, 4], [3, 4, 0, 1, 2]] as [[UInt16]])
    func `a keyframe of which a later part came first begins nothing`(_ order: [UInt16]) throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        let picture: [[UInt8]] = [
            TestClient.sequenceSet, TestClient.pictureSet, [0x7C, 0x85, 1], [0x7C, 0x05, 1], [0x7C, 0x45, 1],
        ]
        feed(receiver, picture: 0, from: 9, [[0x41, 1]])
        for place in order {
            let part = packet(96, ssrc: 4_005_686_104, number: 10 + place, timestamp: 3_000, picture[Int(place)])
            feed(receiver, part, at: 100)
        }
        #expect(output["p"]?.keyframes == 0 && output["p"]?.video.sorted() == Array(9...14))
    }

    @Test func `a keyframe that comes before its lost parameter sets answers no request`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        feed(receiver, picture: 0, from: 0, [[0x41, 1]])
        let atFirst = try Self.isAsked(receiver, at: 50)
        feed(receiver, packet(96, ssrc: 4_005_686_104, number: 2, timestamp: 3_000, [0x65, 1]), at: 100)
        feed(receiver, packet(96, ssrc: 4_005_686_104, number: 1, timestamp: 3_000, TestClient.sequenceSet), at: 150)
        let behindIt = try Self.isAsked(receiver, at: 600)
        feed(receiver, picture: 20, from: 3, [TestClient.sequenceSet, TestClient.pictureSet, [0x65, 1]])
        let behindAWholeOne = try Self.isAsked(receiver, at: 1_300)
        #expect(atFirst && behindIt && !behindAWholeOne)
        #expect(output["p"]?.keyframes == 1 && output["p"]?.keyframeStart == 3)
    }

    /// Whether the encoder is asked for a keyframe then.
    private static func isAsked(_ receiver: MediaReceiver, at milliseconds: Int64) throws -> Bool {
        try packets(receiver.feedback(at: time(milliseconds))).contains(where: {
            if case .pictureLoss = $0 { true } else { false }
        })
    }

    /// Three requests without any would mean that nobody listens.
    @Test func `an encoder whose keyframes come late has heard what it was asked for`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        func send(_ number: UInt16, _ slice: UInt8, of milliseconds: Int64, late: Int64 = 0) {
            let timestamp = UInt32(milliseconds * 90)
            feed(
                receiver, packet(96, ssrc: 4_005_686_104, number: number, timestamp: timestamp, [slice, 1]),
                at: milliseconds + late)
        }
        var asked: [Bool] = []
        for (round, time) in ([50, 1_100, 3_200, 7_300] as [Int64]).enumerated() {
            let first = UInt16(3 * round)
            send(first, 0x41, of: time - 10)
            asked.append(try Self.isAsked(receiver, at: time))
            send(first + 2, 0x41, of: time + 40)
            send(first + 1, 0x65, of: time + 20, late: 40)
        }
        #expect(asked == [true, true, true, true] && output["p"]?.keyframes == 0)
    }

    @Test func `parameter sets without end are not kept back`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        feed(receiver, picture: 0, from: 0, Array(repeating: TestClient.sequenceSet, count: 40))
        #expect(output["p"]?.video == Array(0..<34), "sixteen wait, and go with the one that finds no room")
        feed(receiver, picture: 1, from: 40, [[0x41, 1]])
        #expect(output["p"]?.video == Array(0..<41) && output["p"]?.keyframes == 0)
    }

    /// The same table as RTMP's (`PipelineTests`): one policy for what is malformed. A packet loses what could not be read.
    @Test(arguments: LengthPrefixedUnits.cases)
    func `judges and forwards what can be read of a packet`(_ item: LengthPrefixedUnits) throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        let payload = [0x78] + item.body
        packet(96, ssrc: 4_005_686_104, number: 7, timestamp: 0, payload).withUnsafeBytes { bytes in
            _ = receiver.receive(bytes, at: Self.time(0))
            #expect(receiver.reception.found.units.map { Array($0) } == item.units)
            receiver.handOver()
        }
        let goesOn = item.endOffset > 0
        #expect(output["p"]?.video ?? [] == (goesOn ? [7] : []))
        if goesOn { #expect(output["p"]?.lastPayload == Array(payload[...item.endOffset])) }
        #expect(receiver.metrics.malformed.value == (item.isMalformed ? 1 : 0))
    }

    @Test func `a packet of two channels makes the track stereo for good, whatever the offer said`() throws {
        let (receiver, _) = try receiver("gst-whipclientsink-0.15.3-gst1.28.8")
        let publication = try #require(receiver.publication)
        publication.setFormat(.opus(isStereo: false), of: .audio)
        // One channel, two, and one again: hybrid frames of 20 ms.
        for (number, toc) in ([0x78, 0x7C, 0x78] as [UInt8]).enumerated() {
            let audio = packet(97, ssrc: 7, number: UInt16(number), timestamp: UInt32(number) * 960, [toc, 1])
            feed(receiver, audio, at: Int64(number) * 20)
            #expect(publication.formats[.audio] == .opus(isStereo: number > 0))
        }
    }

    @Test func `three keyframes without parameter sets show that there are none, until some come`() throws {
        let (receiver, _) = try receiver("gst-whipsink-0.15.3-gst1.28.8")
        var shown: [Bool] = []
        for number in UInt16(1)...3 {
            // Two slices are one keyframe.
            for offset in UInt16(0)...1 {
                let slice = packet(96, ssrc: 7, number: 2 * number + offset, timestamp: UInt32(number) * 90_000, [0x65, 1])
                feed(receiver, slice, at: Int64(number) * 1_000)
            }
            shown.append(receiver.lacksParameterSets(at: Self.time(9_000)))
        }
        #expect(shown == [false, false, true])
        #expect(!receiver.lacksParameterSets(at: Self.time(5_900)), "they may come every few seconds")
        #expect(receiver.lacksParameterSets(at: Self.time(6_000)))
        var sets: [UInt8] = [24]
        for set in [TestClient.sequenceSet, TestClient.pictureSet] { sets += [0, UInt8(set.count)] + set }
        feed(receiver, packet(96, ssrc: 7, number: 8, timestamp: 360_000, sets), at: 4_000)
        #expect(!receiver.lacksParameterSets(at: Self.time(9_000)))
    }

    @Test func `a retransmission by RTX fills its gap with the original number`() throws {
        let (receiver, output) = try receiver("ffmpeg-9.0.2")
        feed(receiver, packet(106, ssrc: 1_769_242_988, number: 10, timestamp: 0, [0x65, 1]), at: 0)
        feed(receiver, packet(106, ssrc: 1_769_242_988, number: 12, timestamp: 3_000, [0x41, 3]), at: 10)
        let told = try Self.packets(receiver.feedback(at: Self.time(30)))
        #expect(told.contains { if case .nack = $0 { true } else { false } })
        feed(receiver, packet(105, ssrc: 1_769_242_989, number: 1, timestamp: 0, [0, 11, 0x41, 2]), at: 60)
        #expect(output["p"]?.video == [10, 12, 11])
        #expect(output["p"]?.lastPayload == [0x41, 2])
        feed(receiver, packet(105, ssrc: 1_769_242_989, number: 2, timestamp: 0, [0, 11, 0x41, 2]), at: 70)
        #expect(output["p"]?.video.count == 3, "a second copy is a duplicate")
    }

    /// ffmpeg offers `a=rtcp-rsize` and reads a NACK only when nothing stands before it; OBS does not offer it.
    @Test(arguments: [
        ("ffmpeg-9.0.2", UInt32(1_769_242_988), UInt8(106), true), ("obs-32.2.2-ldc0.21.0", 4_005_686_104, 96, false),
    ])
    func `requests for lost packets go alone where that was agreed`(
        _ offer: String, _ ssrc: UInt32, _ type: UInt8, _ isAlone: Bool
    ) throws {
        let (receiver, _) = try receiver(offer)
        feed(receiver, packet(type, ssrc: ssrc, number: 10, timestamp: 0, [0x65, 1]), at: 0)
        feed(receiver, packet(type, ssrc: ssrc, number: 12, timestamp: 3_000, [0x41, 3]), at: 10)
        // With a report due and without.
        for time in [30, 200] as [Int64] {
            let datagrams = try receiver.feedback(at: Self.time(time)).map { try RTCPCompound.parse($0.span.bytes) }
            let asking = try #require(datagrams.first { $0.contains { if case .nack = $0 { true } else { false } } })
            let hasReport = if case .receiverReport = asking[0] { true } else { false }
            #expect(hasReport != isAlone && (asking.count == 1) == isAlone, "\(asking)")
        }
    }

    private static func packets(_ datagrams: [[UInt8]]) throws -> [RTCPPacket] {
        try datagrams.flatMap { try RTCPCompound.parse($0.span.bytes) }
    }

    @Test func `sound that was only overtaken goes on, though nobody can be asked for it`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        let sound: (UInt16, Int64) -> Void = { number, time in
            feed(receiver, packet(111, ssrc: 4_005_686_103, number: number, timestamp: UInt32(number) * 960, [1, 2]), at: time)
        }
        sound(1, 0)
        sound(3, 20)
        for time in [30, 40, 50] as [Int64] { _ = receiver.feedback(at: Self.time(time)) }
        sound(2, 55)
        #expect(output["p"]?.audio == [1, 3, 2])
        sound(5, 60)
        for time in stride(from: 70, through: 1_200, by: 10) { _ = receiver.feedback(at: Self.time(Int64(time))) }
        // What never came is counted all the same.
        #expect(
            receiver.figures.audio
                == MediaFigures.Track(received: 4, lost: 1, recovered: 0, jitter: receiver.figures.audio.jitter))
    }

    @Test func `the publish and the session count the same loss, whatever made it`() throws {
        let (receiver, _) = try receiver("obs-32.2.2-ldc0.21.0")
        // Three packets missing, then an outage beyond what is kept, then two that are asked for until the end.
        let numbers = Array(0..<10) + Array(13..<100) + Array(1_100..<1_150) + Array(1_152..<1_160)
        for (index, number) in numbers.enumerated() {
            let time = Int64(index) * 30
            feed(
                receiver, packet(96, ssrc: 4_005_686_104, number: UInt16(number), timestamp: UInt32(number) * 90, [0x41, 1]),
                at: time)
            _ = receiver.feedback(at: Self.time(time + 5))
        }
        receiver.giveUpMissing()
        #expect(receiver.figures.video.lost == 3 + 1_000 + 2)
        #expect(receiver.publication?.counters.lost.value == 1_005)
        #expect(receiver.publication?.counters.roundTrip == nil && receiver.figures.roundTrip == nil)
    }

    @Test func `a layer that answers no request is asked no more`() throws {
        let (receiver, _) = try receiver("obs-32.2.2-ldc0.21.0")
        var asked = 0
        for index in 0..<2_000 {
            let number = UInt16(index * 2)
            feed(
                receiver, packet(96, ssrc: 4_005_686_104, number: number, timestamp: UInt32(number) * 90, [0x41, 1]),
                at: Int64(index) * 10)
            for case .nack(let nack) in try Self.packets(receiver.feedback(at: Self.time(Int64(index) * 10 + 9))) {
                nack.forEachSequenceNumber { _ in asked += 1 }
            }
        }
        #expect((1_000...1_300).contains(asked), "256 times for five packets, but for the first ones")
    }

    /// A browser in another network: it keeps what it sent in the last second, and nothing else can come.
    @Test func `an outage that nothing brings back does not end requests`() throws {
        let (receiver, _) = try receiver("chromium-156.0.8078.79")
        let type = receiver.reception.offer.video.payloadType
        var asked: [Int64] = []
        for index in Array(0..<100) + Array(500..<1_000) where index != 900 {
            let time = Int64(index) * 10
            feed(
                receiver, packet(type, ssrc: 1_913_746_846, number: UInt16(index), timestamp: UInt32(index) * 900, [0x41, 1]),
                at: time)
            for case .nack in try Self.packets(receiver.feedback(at: Self.time(time + 9))) { asked.append(time) }
        }
        #expect(asked.contains { $0 < 8_000 } && asked.contains { $0 > 9_000 })
    }

    /// A browser that begins muted, shows its camera, mutes it again, and goes on in the middle of a group of pictures.
    @Test func `audio alone is a publish, video may follow, and is asked for a keyframe where it goes on without`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        var (asked, starts, number) = ([Int64](), 0, UInt16(0))
        var steps: [SessionStory.Step] = []
        func play(_ times: StrideTo<Int64>, video unit: (Int64) -> UInt8?) throws {
            for time in times {
                feed(
                    receiver, packet(111, ssrc: 4_005_686_103, number: UInt16(time / 20), timestamp: UInt32(time) * 48, [1, 2]),
                    at: time)
                if let unit = unit(time) {
                    number += 1
                    feed(
                        receiver, packet(96, ssrc: 4_005_686_104, number: number, timestamp: UInt32(time) * 90, [unit, 1]),
                        at: time)
                }
                let news = receiver.takeNews()
                starts += news.hasStarted ? 1 : 0
                steps += news.steps
                let told = try Self.packets(receiver.feedback(at: Self.time(time + 5)))
                if told.contains(where: { if case .pictureLoss = $0 { true } else { false } }) { asked.append(time) }
            }
        }
        try play(stride(from: 0, to: 5_000, by: 20)) { _ in nil }
        #expect(steps == [.firstRTP, .audioAlone] && starts == 1)
        #expect(asked.isEmpty, "there is nobody to ask")
        #expect(output["p"]?.muted == [.video])
        receiver.wantKeyframe(of: .video)
        try play(stride(from: 5_000, to: 6_000, by: 20)) { [5_000, 5_980].contains($0) ? 0x65 : 0x41 }
        #expect(steps.last == .firstIDR && starts == 1)
        #expect(asked.isEmpty, "it came with a keyframe")
        #expect(output["p"]?.muted == [] && output["p"]?.video.count == 50)
        try play(stride(from: 6_000, to: 20_000, by: 20)) { _ in nil }
        #expect(output["p"]?.muted == [.video] && asked.isEmpty)
        try play(stride(from: 20_000, to: 20_100, by: 20)) { _ in 0x41 }
        #expect(asked == [20_000] && output["p"]?.muted == [])
    }

    @Test func `transport feedback leaves every 50 to 100 ms`() throws {
        let (receiver, _) = try receiver("chromium-156.0.8078.79")
        var sent: [Int64] = []
        for time in stride(from: Int64(0), to: 3_000, by: 5) {
            receiver.reception.transport.received(UInt16(time / 5), at: Self.time(time))
            guard time % 50 == 0 else { continue }
            if try Self.packets(receiver.feedback(at: Self.time(time))).contains(where: {
                if case .transportWide = $0 { true } else { false }
            }) {
                sent.append(time)
            }
        }
        let gaps = zip(sent, sent.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { (50...100).contains($0) } && sent.count >= 29, "\(gaps)")
    }

    @Test func `sources that nothing places make no state, and there is an end to those that something does`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        for ssrc in UInt32(1)...1_000 {
            feed(receiver, packet(33, ssrc: ssrc, number: 1, timestamp: 0, [0x65, 1]), at: 0)
            feed(receiver, packet(96, ssrc: 10_000 + ssrc, number: 1, timestamp: 0, [0x65, 1]), at: 0)
        }
        #expect(receiver.reception.sources.count <= 12)
        #expect((output["p"]?.video.count ?? 0) <= 12)
    }

    @Test func `a publisher restarted with another source goes on`() throws {
        let (receiver, output) = try receiver("obs-32.2.2-ldc0.21.0")
        feed(receiver, packet(96, ssrc: 4_005_686_104, number: 7, timestamp: 0, [0x65, 1]), at: 0)
        feed(receiver, packet(96, ssrc: 77, number: 500, timestamp: 0, [0x65, 1]), at: 50)
        feed(receiver, packet(96, ssrc: 4_005_686_104, number: 8, timestamp: 3_000, [0x41, 1]), at: 51)
        #expect(output["p"]?.video == [7, 500])
        #expect(output["p"]?.restarts == 1)
    }
}
