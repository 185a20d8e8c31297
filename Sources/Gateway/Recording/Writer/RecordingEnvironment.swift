import ObjectStorage
import Transcoding
import Wire

extension Recording {
    /// What recordings use of the writer's thread.
    struct Environment {
        let spool: Spool
        let director: any RecordingDirector
        let metrics: RecordingMetrics
        let clocks: () -> (monotonic: MonotonicTime, wall: WallTime)
        /// The way of a bucket's answer back to this thread, and to that recording.
        let makeAnswer: (Recording) -> @Sendable (UploadResult) -> Void
        /// Has a keyframe made into a JPEG, which comes as `pictured`; false when nobody has time for it.
        let makePicture: (Recording, [UInt8]) -> Bool
        let latest: LatestThumbnails
        var gaps = GapNotice()
        /// Asks the register whose the recording is; the answer comes as `registerRead`.
        var askRegister: (Recording) -> Void = { _ in }
        /// Nil where sound is recorded as it came.
        var transcoder: AudioTranscoder?
    }
}
