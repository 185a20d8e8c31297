import RTP
import StageHub
import Wire

/// Keeps a publish's media until the router has answered: from the latest IDR on, at most one GOP, 2 s and 4 MB.
///
/// Audio of the same time is kept with it. Beyond the limits video is dropped up to the next IDR, audio from the front.
final class StartGate {
    struct Note {
        var run: MediaRun
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        var isKeyframe: Bool
    }

    static let maximumAge = Duration.seconds(2)
    static let maximumByteCount = 4_000_000

    private let video: PacketQueue<Note>
    private let audio: PacketQueue<Note>
    /// Video is not kept before its first IDR, nor after an overflow before the next one.
    private var awaitsKeyframe = true

    init(pool: PacketPool) { (video, audio) = (PacketQueue(pool: pool), PacketQueue(pool: pool)) }

    var holdsKeyframe: Bool { !video.isEmpty }

    /// Copies the packets of one run.
    func keep(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.track.kind == .audio { return unsafe keepAudio(packets, run) }
        if run.isKeyframe {
            video.removeAll()
            awaitsKeyframe = false
        }
        guard !awaitsKeyframe else { return }
        unsafe append(packets, run, to: video)
        let isTooOld = video.first.map { run.arrival - $0.note.run.arrival > Self.maximumAge } ?? false
        if isTooOld || video.byteCount + audio.byteCount > Self.maximumByteCount {
            video.removeAll()
            awaitsKeyframe = true
        }
    }

    /// Hands out what was kept, in order of arrival, run by run; the gate is empty then.
    func release(_ body: (UnsafeBufferPointer<MediaPacket>, MediaRun) -> Void) {
        dropAudioBeforeVideo()
        var packets: [MediaPacket] = []
        while let queue = earlier() {
            let note = queue[0].note
            packets.removeAll(keepingCapacity: true)
            while packets.count < queue.count, queue[packets.count].note.belongs(with: note) {
                let entry = queue[packets.count]
                unsafe packets.append(
                    MediaPacket(
                        sequenceNumber: entry.note.sequenceNumber, timestamp: entry.note.timestamp, marker: entry.note.marker,
                        payload: entry.bytes))
            }
            unsafe packets.withUnsafeBufferPointer { unsafe body($0, note.run) }
            queue.removeFirst(packets.count)
        }
        awaitsKeyframe = true
    }

    func removeAll() {
        video.removeAll()
        audio.removeAll()
        awaitsKeyframe = true
    }

    private func keepAudio(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun) {
        unsafe append(packets, run, to: audio)
        while let first = audio.first, run.arrival - first.note.run.arrival > Self.maximumAge { audio.removeFirst() }
        while video.byteCount + audio.byteCount > Self.maximumByteCount, !audio.isEmpty { audio.removeFirst() }
    }

    private func append(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun, to queue: PacketQueue<Note>) {
        for index in packets.indices {
            let packet = unsafe packets[index]
            let note = Note(
                run: run, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                isKeyframe: run.isKeyframe)
            unsafe withUnsafeBytes(of: packet.head.littleEndian) { head in
                let start = unsafe UnsafeRawBufferPointer(rebasing: head[..<Int(packet.headCount)])
                unsafe queue.append(start, packet.payload, note: note)
            }
        }
    }

    /// Sound from before the first picture would only be late.
    private func dropAudioBeforeVideo() {
        guard let start = video.first?.note.run.arrival else { return }
        while let first = audio.first, first.note.run.arrival < start { audio.removeFirst() }
    }

    private func earlier() -> PacketQueue<Note>? {
        guard let picture = video.first else { return audio.isEmpty ? nil : audio }
        guard let sound = audio.first else { return video }
        return sound.note.run.arrival < picture.note.run.arrival ? audio : video
    }
}

extension StartGate.Note {
    /// Packets of one access unit share their RTP time.
    fileprivate func belongs(with other: Self) -> Bool {
        timestamp == other.timestamp && run.arrival == other.run.arrival && isKeyframe == other.isKeyframe
    }
}
