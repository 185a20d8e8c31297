import Admission
import EventLoop

/// A granted publish: its lease, its media, and the timers that watch it.
///
/// A class, because every message asks for it: a struct's copy is six references counted up and down.
final class LivePublish {
    let number: UInt64
    let lease: PublishLease
    let holder: RTMPLeaseHolder
    let pipeline: RTMPPublishPipeline
    /// Fed by media; ends the publish when none comes.
    let silence: TimerWatch
    /// Once a second.
    let tick: TimerWatch

    init(
        number: UInt64, lease: PublishLease, holder: RTMPLeaseHolder, pipeline: RTMPPublishPipeline, silence: TimerWatch,
        tick: TimerWatch
    ) {
        (self.number, self.lease, self.holder, self.pipeline) = (number, lease, holder, pipeline)
        (self.silence, self.tick) = (silence, tick)
    }
}
