import ObjectStorage
import Transcoding
import Wire

extension Recording {
    /// What the writer's thread has that recordings use.
    struct Environment {
        let spool: Spool
        let director: any RecordingDirector
        let metrics: RecordingMetrics
        let clocks: () -> (monotonic: MonotonicTime, wall: WallTime)
        /// The way of a bucket's answer back to this thread, and to that recording.
        let makeAnswer: (Recording) -> @Sendable (UploadResult) -> Void
        /// Has a JPEG made of a keyframe, which comes as `pictured`; false when nobody has the time.
        let makePicture: (Recording, [UInt8]) -> Bool
        let latest: LatestThumbnails
        var gaps = GapNotice()
        /// Has the register asked whose the recording is, which comes as `registerRead`.
        var askRegister: (Recording) -> Void = { _ in }
        /// Nil where sound is recorded as it came.
        var transcoder: AudioTranscoder?
    }
}
