import Admission
import EventLoop
import GatewayMetrics
import Monitoring
import Refusals
import StageHub
import TestSupport
import Testing
import Wire

@testable import RedundantIngest

/// Two encoders of one worker, their media made by hand.
@Suite("Two encoders, one participant")
final class JoinedParticipantTests {
    private let loop: EventLoop
    private let leases = OneLease()
    private let desk: RedundancyDesk
    private let registry = MetricsRegistry()
    private var worker: RedundancyWorker?
    private let stage = StageSink()
    private var shown: [Publication] = []

    init() throws {
        loop = try EventLoop()
        desk = RedundancyDesk(leases: leases, reports: nil, board: nil, workerCount: 1, metrics: registry)
        worker = try RedundancyWorker(loop: loop, index: 0, desk: desk) { [unowned self] publication in
            shown.append(publication)
            publication.add(stage)
        }
    }

    /// An encoder that publishes from now on.
    private func encoder(_ number: Int, layers: Int = 1) -> TestEncoder {
        var grant = PublishGrant(participantID: "encoder-\(number)", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        grant.redundancy = .encoder(number: number, joined: "both")
        let lease = PublishLease(participantID: grant.participantID, stageID: "s", stageSessionID: "st", generation: 1)
        let publication = Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
        #expect(worker?.publishBegan(publication) == true)
        return TestEncoder(publication, loop, layers: layers)
    }

    /// Has encoders bring media for so long, and longer where the machine has stood still for some of it.
    private func bring(_ time: Duration, _ encoders: TestEncoder...) {
        let (end, least) = (loop.now + time, Int(time / Duration.milliseconds(40)))
        var count = 0
        let timer = loop.schedule(after: .milliseconds(20), repeating: .milliseconds(20)) {
            count += 1
            for encoder in encoders { encoder.bring() }
        }
        _ = loop.run(until: { [loop] in loop.now >= end && count >= least }, within: .seconds(60))
        timer.cancel()
    }

    /// - Parameter encoders: go on meanwhile: on a machine that stands still for half a second they would be taken for still.
    private func isSoon(bringing encoders: TestEncoder..., until isDone: () -> Bool) -> Bool {
        let timer = loop.schedule(after: .milliseconds(20), repeating: .milliseconds(20)) {
            for encoder in encoders { encoder.bring() }
        }
        defer { timer.cancel() }
        return loop.run(until: isDone, within: .seconds(60))
    }

    private func eventually(_ isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(60)) }

    private var metrics: String { String(decoding: registry.exposition(), as: UTF8.self) }
    private var source: Int? { desk.status(ofParticipant: "both")?.source }

    @Test(.timeLimit(.minutes(5)))
    func `the stage sees one participant, whichever encoder is lost`() throws {
        let (one, two) = (encoder(1), encoder(2))
        bring(.milliseconds(1_500), one, two)
        #expect(shown.map(\.grant.participantID) == ["both"] && source == 1)
        one.end(.connectionLost)
        #expect(isSoon(bringing: two) { self.source == 2 })
        bring(.milliseconds(500), two)
        let again = encoder(1)
        bring(.milliseconds(500), again, two)
        #expect(source == 2, "who was lost is not returned to while the other is well")
        two.end(.refused(Refusal(.bFrames)))
        #expect(isSoon(bringing: again) { self.source == 1 })
        bring(.milliseconds(200), again)
        #expect(shown.count == 1 && stage.ends.isEmpty && leases.claims == 1)
        #expect(stage.isContinuous)
        #expect(metrics.contains("stagedoor_redundant_switches_total{reason=\"end\"} 1"))
        #expect(metrics.contains("stagedoor_redundant_switches_total{reason=\"breach\"} 1"))
    }

    /// Routers are announced when there is one of each kind: a layer that they hear of later is one too many.
    @Test(.timeLimit(.minutes(5)), arguments: 1...8)
    func `the stage hears of all layers by their places before it hears of sound`(_: Int) {
        let one = encoder(1, layers: 3)
        bring(.milliseconds(100), one)
        #expect(isSoon(bringing: one) { !self.shown.isEmpty && self.stage.formats.count == 4 })
        let layers = (0..<3 as Range<UInt8>).map { TrackID(.video, layer: $0) }
        #expect(stage.formats == layers + [.audio] && shown.first?.layers.count == 3)
    }

    /// What is replicated stands on other stages from then on.
    @Test(.timeLimit(.minutes(5)))
    func `sinks hear once that the publish is real, whoever is the source`() {
        let (one, two) = (encoder(1), encoder(2))
        for _ in 0..<60 where stage.starts == 0 { bring(.milliseconds(500), one, two) }
        #expect(stage.starts == 1)
        one.end(.connectionLost)
        #expect(isSoon(bringing: two) { self.source == 2 })
        bring(.milliseconds(1_500), two)
        #expect(stage.starts == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a source that stands still is left, an operator may choose`() {
        let (one, two) = (encoder(1), encoder(2))
        bring(.milliseconds(1_500), one, two)
        bring(.milliseconds(1_200), two)
        #expect(isSoon(bringing: two) { self.source == 2 })
        #expect(desk.order(1, for: ParticipantKey("both", onStage: "s")) == false, "it brings nothing")
        bring(.milliseconds(1_500), one, two)
        #expect(isSoon(bringing: one, two) { self.desk.order(1, for: ParticipantKey("both", onStage: "s")) })
        #expect(isSoon(bringing: one, two) { self.source == 1 })
        bring(.milliseconds(200), one, two)
        #expect(stage.isContinuous && shown.count == 1)
        #expect(metrics.contains("stagedoor_redundant_switches_total{reason=\"stall\"} 1"))
        #expect(metrics.contains("stagedoor_redundant_switches_total{reason=\"operator\"} 1"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `media crosses without an allocation once it has warmed up`() throws {
        let encoder = encoder(1)
        bring(.milliseconds(1_500), encoder)
        func runs() {
            let wanted = stage.count + 400
            encoder.bring(pictures: 100)
            _ = eventually { self.stage.count >= wanted }
        }
        let before = stage.count
        runs()
        let count = try AllocationCounter.count { runs() }
        #expect(stage.count >= before + 800)
        // The loop's own deadline, and what its test makes for each turn.
        #expect(count < 50, "\(count) in 100 runs")
    }

    @Test func `participants whose leases were granted in the same millisecond are sessions of their own`() {
        func sessionID(_ participant: String) -> String {
            JoinedParticipant.sessionID(
                of: PublishLease(participantID: participant, stageID: "s", stageSessionID: "st", generation: 1_790_000_000_000))
        }
        #expect(sessionID("both") != sessionID("others"))
    }

    @Test func `encoders that differ are told of, those that are alike are not`() {
        let full = EncoderPicture(width: 1_280, height: 720, framesPerSecond: 30)
        #expect(full.difference(from: EncoderPicture(width: 1_280, height: 720, framesPerSecond: 29.97)) == nil)
        #expect(
            full.difference(from: EncoderPicture(width: 1_280, height: 720, framesPerSecond: 60))?.hasPrefix(
                "Encoder 1 sends 1280x720 at 30 pictures a second, encoder 2 1280x720 at 60") == true)
        #expect(full.difference(from: EncoderPicture(width: 640, height: 360, framesPerSecond: 30)) != nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `both lost and one back is the same publish; both ended is its end`() {
        let (one, two) = (encoder(1), encoder(2))
        bring(.milliseconds(1_200), one, two)
        one.end(.connectionLost)
        two.end(.connectionLost)
        #expect(eventually { self.source == nil })
        let back = encoder(2)
        bring(.milliseconds(500), back)
        #expect(isSoon(bringing: back) { self.source == 2 })
        #expect(shown.count == 1 && stage.ends.isEmpty && stage.isContinuous)
        #expect(!metrics.contains("stagedoor_redundant_switches_total{reason=\"end\"} 2"), "it was the last one before")
        back.end(.closed)
        #expect(eventually { self.stage.ends == [.closed] })
        #expect(desk.status(ofParticipant: "both") == nil && leases.holder == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `encoders whose days end one after the other are one publish`() {
        var encoders = [1: encoder(1), 2: encoder(2)]
        for ending in [1, 2, 1, 2] {
            bring(.milliseconds(800), encoders[1]!, encoders[2]!)
            #expect(source == ending)
            encoders[ending]?.end(.refused(Refusal(.durationExceeded)))
            #expect(isSoon(bringing: encoders[3 - ending]!) { self.source == 3 - ending })
            encoders[ending] = encoder(ending)
        }
        bring(.milliseconds(800), encoders[1]!, encoders[2]!)
        #expect(shown.count == 1 && stage.ends.isEmpty && stage.isContinuous && leases.claims == 1)
        #expect(metrics.contains("stagedoor_redundant_switches_total{reason=\"breach\"} 4"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `who is disconnected comes back as another publish`() {
        let one = encoder(1)
        #expect(isSoon(bringing: one) { self.shown.count == 1 })
        bring(.milliseconds(300), one)
        leases.holder?.end(.disconnected(Refusal(.participantDisconnected)))
        #expect(eventually { !self.stage.ends.isEmpty })
        bring(.milliseconds(300), one)
        #expect(shown.count == 1, "its encoder is told by the control plane")
        one.end(.refused(Refusal(.participantDisconnected)))
        #expect(eventually { self.desk.statuses.isEmpty })
        let again = encoder(1)
        #expect(isSoon(bringing: again) { self.shown.count == 2 })
        #expect(leases.claims == 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a lease that is taken over ends the publish, and is asked for again`() {
        let one = encoder(1)
        #expect(isSoon(bringing: one) { self.shown.count == 1 })
        bring(.milliseconds(300), one)
        let other = LocalHolder { _ in }
        leases.take(for: other)
        #expect(eventually { self.stage.ends == [.takenOver] })
        bring(.milliseconds(300), one)
        other.ended()
        leases.take(for: nil)
        #expect(
            eventually {
                one.bring()
                return self.shown.count == 2
            })
        bring(.milliseconds(1_500), one)
        #expect(desk.status(ofParticipant: "both")?.switchCount == 0, "there is no other encoder")
    }

    @Test(.timeLimit(.minutes(5)))
    func `who brings nothing takes the lease of nobody, not even of who brings nothing either`() {
        let other = LocalHolder { _ in }
        other.progressed(at: loop.now)
        leases.take(for: other)
        let one = encoder(1)
        bring(.milliseconds(2_000))
        #expect(leases.claims == 0 && shown.isEmpty)
        #expect(
            eventually {
                one.bring()
                return self.shown.count == 1
            })
    }
}

/// Writes a picture of four packets every 40 ms, a keyframe every 400, and sound.
private final class TestEncoder {
    private let publication: Publication
    private let loop: EventLoop
    private let began: MonotonicTime
    private let payload = [UInt8](repeating: 7, count: 1_100)
    private var packets: [MediaPacket] = []
    private var frame: Int64 = 0

    init(_ publication: Publication, _ loop: EventLoop, layers: Int) {
        (self.publication, self.loop, began) = (publication, loop, loop.now)
        for layer in 0..<UInt8(layers) {
            publication.setFormat(.h264(sps: [1], pps: [2]), of: TrackID(.video, layer: layer))
            publication.setPictureSize(width: 320 << layer, height: 180 << layer, of: TrackID(.video, layer: layer), at: loop.now)
        }
        publication.setFormat(.opus(isStereo: true), of: .audio)
    }

    /// One packet of sound, and every other time a picture.
    func bring() {
        frame += 1
        let time = (loop.now - began).inSeconds
        write(1, of: .audio, number: frame, timestamp: Int64(time * 48_000), isKeyframe: false)
        guard frame % 2 == 0 else { return }
        write(4, of: .video, number: frame * 2, timestamp: Int64(time * 90_000), isKeyframe: frame % 20 == 2)
    }

    private func write(_ count: Int64, of track: TrackID, number: Int64, timestamp: Int64, isKeyframe: Bool) {
        payload.withUnsafeBytes { bytes in
            let packets = (0..<count).map {
                MediaPacket(
                    sequenceNumber: number + $0, timestamp: timestamp, marker: $0 == count - 1, head: 0x0102, headCount: 2,
                    payload: bytes)
            }
            packets.withUnsafeBufferPointer {
                publication.forward($0, of: MediaRun(track: track, isKeyframe: isKeyframe, arrival: loop.now))
            }
        }
    }

    /// Pictures at once, of four packets each, made before the first is written.
    func bring(pictures count: Int64) {
        let first = frame * 2 + 4
        frame += 2 * count + 2
        let time = Int64((loop.now - began).inSeconds * 90_000)
        payload.withUnsafeBytes { bytes in
            packets.removeAll(keepingCapacity: true)
            for number in 0..<(4 * count) {
                packets.append(
                    MediaPacket(
                        sequenceNumber: first + number, timestamp: time + number / 4 * 3_000, marker: number % 4 == 3,
                        head: 0x0102,
                        headCount: 2, payload: bytes))
            }
            packets.withUnsafeBufferPointer { all in
                for index in 0..<Int(count) {
                    let picture = UnsafeBufferPointer(rebasing: all[(4 * index)..<(4 * index + 4)])
                    publication.forward(picture, of: MediaRun(track: .video, isKeyframe: false, arrival: loop.now))
                }
            }
        }
    }

    func end(_ reason: SessionEnd) { publication.end(reason) }
}

/// What the stage gets.
private final class StageSink: MediaSink {
    private(set) var ends: [SessionEnd] = []
    private(set) var starts = 0
    /// Packets.
    private(set) var count = 0
    /// Tracks in the order in which their formats became known.
    private(set) var formats: [TrackID] = []
    private static let beginning: [UInt8] = [2, 1, 7]
    private var last: [MediaKind: (number: Int64, timestamp: Int64)] = [:]
    /// Every number follows the one before, no timestamp goes back, and payloads are whole.
    private(set) var isContinuous = true

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        count += packets.count
        for packet in packets {
            let isWhole = packet.payloadByteCount == 1_102 && packet.payload.starts(with: Self.beginning)
            if let last = last[run.track.kind], packet.sequenceNumber != last.number + 1 || packet.timestamp < last.timestamp {
                isContinuous = false
            }
            if !isWhole { isContinuous = false }
            last[run.track.kind] = (packet.sequenceNumber, packet.timestamp)
        }
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) { formats.append(track) }
    func muteChanged(_ track: TrackID, isMuted: Bool) {}
    func restarted() { isContinuous = false }
    func ended(_ reason: SessionEnd) { ends.append(reason) }
    func publishStarted() { starts += 1 }
}

/// The lease of one participant.
private final class OneLease: PublishLeases {
    private struct State {
        var generation: UInt64 = 0
        var claims = 0
        var holder: (any LeaseHolder)?
    }

    private let state = Lock(State())

    var claims: Int { state.withLock { $0.claims } }
    var holder: (any LeaseHolder)? { state.withLock { $0.holder } }

    /// Somebody else has it from now on.
    func take(for holder: (any LeaseHolder)?) {
        let former = state.withLock { state in
            defer { (state.holder, state.generation) = (holder, state.generation + 1) }
            return state.holder
        }
        former?.end(.takenOver)
    }

    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        let answer: ClaimAnswer = state.withLock { state in
            if let incumbent = state.holder, !takeOver { return .held(by: incumbent) }
            state.claims += 1
            state.generation += 1
            state.holder = holder
            return .granted(
                PublishLease(
                    participantID: grant.participantID, stageID: grant.stageID, stageSessionID: "st", generation: state.generation
                ))
        }
        reply(answer)
    }

    func release(_ lease: PublishLease) {
        state.withLock { if $0.generation == lease.generation { $0.holder = nil } }
    }
}
