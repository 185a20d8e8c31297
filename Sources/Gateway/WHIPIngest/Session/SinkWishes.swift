import StageHub

/// What a publication's sinks ask of its encoder.
///
/// An object of its own: the publication holds it weakly, and an object that is held so keeps its counts in a side table. The
/// session and its receiver, which every packet passes, shall not pay for that.
final class SinkWishes: MediaSource {
    private let entry: SessionEntry
    private let receiver: MediaReceiver

    init(entry: SessionEntry, receiver: MediaReceiver) { (self.entry, self.receiver) = (entry, receiver) }

    var canRequestKeyframe: Bool { receiver.canRequestKeyframe }
    func announced() { entry.note(.announced) }
    func requestKeyframe(_ track: TrackID) { receiver.wantKeyframe() }
    func limitBitrate(_ bitsPerSecond: Int?) { receiver.limitBitrate(bitsPerSecond) }
}
