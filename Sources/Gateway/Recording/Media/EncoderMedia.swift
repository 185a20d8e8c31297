import AAC
import EventLoop
import MP4
import Opus
import StageHub
import Transcoding
import Wire

/// What one publish brings, from blocks of the hub's packets to a recording's segments, by the clocks of `TrackClocks`.
/// Confined to the writer's thread.
final class EncoderMedia {
    /// Makes AAC of Opus; nil where Opus is recorded as it came.
    private let transcoder: AudioTranscoder?
    private var transcoding: (stream: TranscodingStream, isStereo: Bool)?
    /// Nil where no segments are made.
    private var machine: SegmentMachine?
    private var videoOrder = PacketOrder(maximumKept: maximumPacketsBehindGap, maximumWait: 45_000)
    private var audioOrder = PacketOrder(maximumKept: maximumFramesBehindGap, maximumWait: 24_000)
    private var assembler = AccessUnitAssembler()
    private var clocks: TrackClocks
    private var samplesPerFrame: Int64 = 1_024
    private var actions: [SegmentMachine.Action] = []
    /// The last keyframe that nobody has taken.
    private var keyframe: AccessUnit?
    /// Blocks that there was no room for.
    private(set) var lostCount = 0

    /// - Parameters:
    ///   - tracksShareClock: stamps of both tracks are of one clock (RTMP).
    ///   - transcoder: of this thread's loop, where AAC is recorded whatever came.
    init(_ machine: SegmentMachine?, tracksShareClock: Bool, transcoder: AudioTranscoder? = nil) {
        (self.machine, self.transcoder) = (machine, transcoder)
        clocks = TrackClocks(isShared: tracksShareClock)
    }

    var damagedPictureCount: Int { assembler.damagedCount }

    /// Takes what a block brings.
    func take(_ block: RecordingBlock) -> [SegmentMachine.Action] {
        let bytes = block.bytes
        for entry in block.entries { take(entry, bytes) }
        defer { actions = [] }
        return actions
    }

    /// The keyframe that came last, if none was taken since.
    func takeKeyframe() -> AccessUnit? {
        defer { keyframe = nil }
        return keyframe
    }

    /// The publish is over.
    func finish() -> [SegmentMachine.Action] {
        restart()
        defer { actions = [] }
        return actions + (machine?.finish() ?? [])
    }

    /// The civil time of a moment of the recording.
    /// - Parameters:
    ///   - time: as the machine's `segmentBegan` has it.
    ///   - now: by both clocks.
    func wallTime(of time: EncoderTime, now: (monotonic: MonotonicTime, wall: WallTime)) -> WallTime {
        clocks.wallTime(of: time, now: now)
    }

    private func take(_ entry: RecordingBlock.Entry, _ bytes: [UInt8]) {
        switch entry {
        case .packet(let kind, let sequenceNumber, let timestamp, let marker, let range):
            unsafe bytes.withUnsafeBytes { bytes in
                let packet = unsafe PacketOrder.Packet(
                    sequenceNumber: sequenceNumber, timestamp: timestamp, marker: marker,
                    payload: UnsafeRawBufferPointer(rebasing: bytes[range]))
                if kind == .video { takeVideo(packet) } else { takeAudio(packet) }
            }
        case .sourceFrame(let mediaTime, let range):
            let time = EncoderTime(ticks: mediaTime.ticks)
            actions += machine?.audioCame(Array(bytes[range]), at: time, duration: samplesPerFrame) ?? []
        case .sourceFormat(.aac(let configuration)): describeAAC(configuration)
        case .opusFormat(let isStereo):
            if !transcodes(isStereo: isStereo) { describeOpus(isStereo: isStereo) }
        case .clock(.video, let time, let timestamp):
            videoRead(TrackClocks.Reading(time: time, encoderTime: clocks.encoderTime(ofVideo: timestamp)))
        case .clock(.audio, let time, let timestamp):
            let former = clocks.audioShift
            clocks.audio = (time, timestamp)
            moveSound(from: former)
        case .layerBegan(let shift): beginLayer(shift)
        case .restarted:
            restart()
            clocks.restart()
        case .lost:
            lostCount += 1
            restart()
        }
    }

    private func describeAAC(_ configuration: [UInt8]) {
        // The ingest has read it: it can be read.
        guard let parsed = unsafe try? AudioSpecificConfig(parsing: configuration.span.bytes),
            Self.sampleRates.contains(parsed.sampleRate)
        else { return }
        (transcoding, samplesPerFrame) = (nil, Int64(parsed.samplesPerFrame))
        actions += machine?.audioDescribed(.aac(parsed)) ?? []
    }

    private func describeOpus(isStereo: Bool) {
        // The stream is joined somewhere, not at its beginning: there is nothing to skip.
        actions += machine?.audioDescribed(.opus(OpusHead(channelCount: isStereo ? 2 : 1, preSkip: 0))) ?? []
    }

    /// Has AAC made of the Opus that follows, what is under way of before forgotten.
    private func transcodes(isStereo: Bool) -> Bool {
        guard let transcoder, machine != nil,
            let format = AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: isStereo ? 2 : 1)
        else { return false }
        let stream = transcoder.openOpus(isStereo: isStereo) { [weak self] in self?.transcoded($0, isStereo: isStereo) }
        transcoding = (stream, isStereo)
        actions += machine?.audioDescribed(.aac(format)) ?? []
        return true
    }

    /// What comes back is carried out with the next block.
    private func transcoded(_ audio: TranscodedAudio, isStereo: Bool) {
        switch audio {
        case .packet(let frame, let timestamp):
            guard let time = clocks.encoderTime(ofAudio: timestamp) else { return }
            actions += machine?.audioCame(unsafe Array(frame), at: time, ownTimestamp: timestamp, duration: 1_024) ?? []
        case .failed:
            transcoding = nil
            describeOpus(isStereo: isStereo)
        }
    }

    private func takeVideo(_ packet: PacketOrder.Packet) {
        videoOrder.take(packet) { [self] packet in assemble(packet) }
    }

    /// Takes a packet in its order.
    private func assemble(_ packet: PacketOrder.Packet) {
        for unit in assembler.take(packet) {
            if unit.isKeyframe, unit.parameterSets.isComplete { keyframe = unit }
            actions += machine?.videoCame(unit, at: clocks.encoderTime(ofVideo: unit.timestamp)) ?? []
        }
    }

    private func takeAudio(_ packet: PacketOrder.Packet) {
        audioOrder.take(packet) { [self] packet in
            guard let duration = unsafe try? TOC.sampleCount(of: packet.payload) else { return }
            if let stream = transcoding?.stream { return unsafe stream.submit(packet.payload, mediaTime: packet.timestamp) }
            guard let time = clocks.encoderTime(ofAudio: packet.timestamp) else { return }
            actions +=
                machine?.audioCame(
                    unsafe Array(packet.payload), at: time, ownTimestamp: packet.timestamp, duration: Int64(duration)) ?? []
        }
    }

    /// Sound that came before the first picture was placed by a clock of its own: it goes with the picture's from now on.
    private func videoRead(_ video: TrackClocks.Reading) {
        let (former, isFirst) = (clocks.audioShift, clocks.video == nil)
        clocks.videoRead(video)
        if !isFirst {
            moveSound(from: former)
        } else if !clocks.isShared {
            machine?.clockMoved(by: video.encoderTime.ticks &- (video.time - MonotonicTime.zero).ticks)
        }
    }

    /// Sound that waits was placed by the reading before. It goes with the new one, which knows more:
    /// first packets often come late.
    private func moveSound(from former: Int64?) {
        if !clocks.isShared, let former, let shift = clocks.audioShift { machine?.soundMoved(by: shift &- former) }
    }

    private func beginLayer(_ shift: Int64?) {
        videoOrder.restart { _ in }
        assembler.restart()
        clocks.layerBegan(shift: shift)
        if shift == nil { actions += machine?.interrupted() ?? [] }
    }

    private func restart() {
        videoOrder.restart { [self] packet in assemble(packet) }
        audioOrder.restart { _ in }
        assembler.restart()
        actions += machine?.interrupted() ?? []
        if let transcoding { _ = transcodes(isStereo: transcoding.isStereo) }
    }

    /// Those that an AudioSpecificConfig has a number for lie between.
    private static let sampleRates = 7_350...96_000
    /// Half a second of the contract's highest bitrate, in packets.
    private static let maximumPacketsBehindGap = 1_024
    private static let maximumFramesBehindGap = 64
}
