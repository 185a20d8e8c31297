import Admission
import EventLoop
import Wire

/// A granted publish: its lease, its media, and the timers that watch it.
///
/// A class, because every message asks for it: a struct's copy is six references counted up and down.
final class LivePublish {
    let number: UInt64
    let lease: PublishLease
    let holder: RTMPLeaseHolder
    let pipeline: RTMPPublishPipeline
    /// Ends the publish when no media has come for long: it looks at `lastMedia` when its time has come.
    let silence: TimerWatch
    /// Once a second.
    let tick: TimerWatch
    /// When a message came last: a store a message, in place of a timer that is set anew.
    var lastMedia: MonotonicTime

    init(
        number: UInt64, lease: PublishLease, holder: RTMPLeaseHolder, pipeline: RTMPPublishPipeline, silence: TimerWatch,
        tick: TimerWatch, began: MonotonicTime
    ) {
        (self.number, self.lease, self.holder, self.pipeline) = (number, lease, holder, pipeline)
        (self.silence, self.tick, lastMedia) = (silence, tick, began)
    }
}
