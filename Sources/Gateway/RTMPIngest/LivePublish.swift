import Admission
import EventLoop

/// A granted publish: its lease, its media, and the timers that watch it.
struct LivePublish {
    let number: UInt64
    let lease: PublishLease
    let holder: RTMPLeaseHolder
    let pipeline: RTMPPublishPipeline
    /// Fed by media; ends the publish when none comes.
    let silence: TimerWatch
    /// Once a second.
    let tick: TimerWatch
}
