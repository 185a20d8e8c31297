package import StageHub

/// A publication's tap before a writer that does nothing: what recording costs a media loop, for the benchmark's steps.
package final class RecordingPassage {
    private let tap: RecordingTap

    package init(of publication: Publication) {
        tap = RecordingTap(publication, takesVideo: true, takesAudio: true)
        publication.add(tap)
    }

    package func read() { _ = tap.feed.drain { _ in } }
}
