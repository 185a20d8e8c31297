import Admission
import MediaContract

/// What all connections of one protocol have brought, those that are over and those that live: it only grows, and however many
/// end at once, it is as large as before.
struct ReceivedTotals {
    private(set) var video = CounterReading.Track()
    private(set) var audio = CounterReading.Track()
    private(set) var lost = 0
    private(set) var reordered = 0
    /// Frames as encoders count them, in the order of `EncoderFigures.counts`.
    private(set) var encoder = EncoderFigures().counts.map { $0.value }

    mutating func add(_ reading: CounterReading) {
        for track in reading.video { video.add(track) }
        audio.add(reading.audio)
        lost += reading.lost
        reordered += reading.reordered
        for (index, count) in reading.encoder.counts.enumerated() { encoder[index] += count.value }
    }
}

extension [IngestProtocol: ReceivedTotals] {
    /// Adds what a connection has brought so far.
    mutating func add(_ record: SessionRecord) {
        guard record.isConnection else { return }
        self[record.ingestProtocol, default: ReceivedTotals()].add(CounterReading(record))
    }
}
