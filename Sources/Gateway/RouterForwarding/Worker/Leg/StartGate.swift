import RTP
import StageHub
import Wire

/// Keeps a publish's media until the router has answered: of each layer from the latest IDR on, at most one GOP, and of all 2 s
/// and 4 MB.
///
/// Audio of the same time is kept with it. Beyond the limits a layer is dropped up to its next IDR, audio from the front.
final class StartGate {
    struct Note {
        var run: MediaRun
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
    }

    private let pool: PacketPool
    /// By layer, from its first IDR on.
    private var video: [TrackID: PacketQueue<Note>] = [:]
    private let audio: PacketQueue<Note>

    init(pool: PacketPool) { (self.pool, audio) = (pool, PacketQueue(pool: pool)) }

    func holdsKeyframe(of layer: TrackID) -> Bool { video[layer] != nil }

    /// Copies the packets of one run.
    func keep(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.track.kind == .audio { return unsafe keepAudio(packets, run) }
        if run.isKeyframe { video[run.track] = PacketQueue(pool: pool) }
        guard let queue = video[run.track] else { return }
        unsafe append(packets, run, to: queue)
        let isTooOld = queue.first.map { run.arrival - $0.note.run.arrival > Self.maximumAge } ?? false
        if isTooOld || byteCount > Self.maximumByteCount { video[run.track] = nil }
    }

    /// Hands out what was kept, in order of arrival, run by run; the gate is empty then.
    /// - Parameter isTaken: of which layers.
    func release(
        where isTaken: (TrackID) -> Bool = { _ in true }, _ body: (UnsafeBufferPointer<MediaPacket>, MediaRun) -> Void
    ) {
        video = video.filter { isTaken($0.key) }
        dropAudioBeforeVideo()
        var packets: [MediaPacket] = []
        while let queue = earliest() {
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
        removeAll()
    }

    func removeAll() {
        video = [:]
        audio.removeAll()
    }

    private var byteCount: Int { video.values.reduce(audio.byteCount) { $0 + $1.byteCount } }

    private func keepAudio(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun) {
        unsafe append(packets, run, to: audio)
        while let first = audio.first, run.arrival - first.note.run.arrival > Self.maximumAge { audio.removeFirst() }
        while byteCount > Self.maximumByteCount, !audio.isEmpty { audio.removeFirst() }
    }

    private func append(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun, to queue: PacketQueue<Note>) {
        for index in packets.indices {
            let packet = unsafe packets[index]
            let note = Note(
                run: run, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker)
            unsafe withUnsafeBytes(of: packet.head.littleEndian) { head in
                let start = unsafe UnsafeRawBufferPointer(rebasing: head[..<Int(packet.headCount)])
                unsafe queue.append(start, packet.payload, note: note)
            }
        }
    }

    /// Sound from before the first picture would only be late.
    private func dropAudioBeforeVideo() {
        guard let start = video.values.compactMap({ $0.first?.note.run.arrival }).min() else { return }
        while let first = audio.first, first.note.run.arrival < start { audio.removeFirst() }
    }

    /// Of what came at one moment, pictures first.
    private func earliest() -> PacketQueue<Note>? {
        let pictures = video.values.filter { !$0.isEmpty }.min { $0[0].note.run.isBefore($1[0].note.run) }
        guard let pictures else { return audio.isEmpty ? nil : audio }
        guard let sound = audio.first else { return pictures }
        return sound.note.run.arrival < pictures[0].note.run.arrival ? audio : pictures
    }

    static let maximumAge = Duration.seconds(2)
    static let maximumByteCount = 4_000_000
}

extension MediaRun {
    fileprivate func isBefore(_ other: MediaRun) -> Bool {
        (arrival.nanoseconds, track.layer) < (other.arrival.nanoseconds, other.track.layer)
    }
}

extension StartGate.Note {
    /// Packets of one access unit share their RTP time.
    fileprivate func belongs(with other: Self) -> Bool {
        timestamp == other.timestamp && run.arrival == other.run.arrival && run.isKeyframe == other.run.isKeyframe
    }
}
