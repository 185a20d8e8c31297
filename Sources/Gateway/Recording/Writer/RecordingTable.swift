import EventLoop
import Wire

/// The recordings that are not closed, or began just now, by their addresses in memory, by which answers find them. Confined to
/// the writer's thread.
final class RecordingTable {
    private var recordings: [ObjectIdentifier: Recording] = [:]

    var isEmpty: Bool { recordings.isEmpty }
    /// Nothing is on its way to a bucket, and nothing could be.
    var isIdle: Bool { recordings.values.allSatisfy(\.isIdle) }

    /// Since when the oldest has waited of what is for the buckets; nil where nothing is.
    var waitingSince: WallTime? { recordings.values.lazy.compactMap(\.waitingSince).min() }

    func add(_ recording: Recording) { recordings[ObjectIdentifier(recording)] = recording }

    /// Of a recording that the publish begins. Its prefix names a second, in which another one of the participant may have begun.
    func header(of publish: RecordedPublish, at now: WallTime) -> RecordingHeader {
        var header = RecordingHeader(publish.participant, publish.plan, began: now)
        while recordings.values.contains(where: { $0.header.prefix == header.prefix }) {
            header = RecordingHeader(publish.participant, publish.plan, began: header.began + .seconds(1))
        }
        return header
    }

    /// Whether this node has the recording of that prefix.
    func has(_ header: RecordingHeader) -> Bool {
        recordings.values.contains { $0.header.prefix == header.prefix && !$0.isElsewhere }
    }

    /// The participant's recording that waits for it, or that its former connection still feeds. One that another process had, or
    /// that could not be taken up at once, waits beside a later one.
    func former(of publish: RecordedPublish) -> Recording? {
        let now = EventLoop.wallNow()
        let fitting = recordings.values.filter { recording in
            recording.header.fits(publish.participant, publish.plan) && recording.book.failure == nil
                && !recording.isOver(at: now) && !recording.isElsewhere
        }
        return fitting.max { $0.header.began < $1.header.began }
    }

    /// What a recording asked has been answered: it goes on.
    func tell(_ id: ObjectIdentifier, _ answer: (Recording) -> Void) {
        guard let recording = recordings[id] else { return }
        answer(recording)
        advance(recording, at: EventLoop.wallNow())
    }

    func advance(at now: WallTime) {
        for recording in recordings.values { advance(recording, at: now) }
    }

    /// One that is closed keeps its prefix from others for as long as they could come to it.
    private func advance(_ recording: Recording, at now: WallTime) {
        guard recording.advance(at: now), now.isPast(.seconds(1), since: recording.header.began) else { return }
        recordings[ObjectIdentifier(recording)] = nil
    }

    func pause() { for recording in recordings.values { recording.pause() } }

    /// Another node has had it since this one had it last.
    func leave(_ header: RecordingHeader) {
        for recording in recordings.values where recording.header.prefix == header.prefix { recording.leave() }
    }
}
