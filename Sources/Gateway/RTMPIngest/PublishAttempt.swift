import Admission
import EventLoop
import Refusals
import Wire

/// A `publish` on its way from the encoder's wish to a lease: which key is being tried, what was granted, whom it waits for.
struct PublishAttempt {
    /// Tells answers to this attempt from those to an earlier one on the connection.
    let number: UInt64
    /// Keys still to be tried, the present one first.
    var keys: ArraySlice<String>
    var request: PublishRequest
    var grant: PublishGrant?
    var holder: RTMPLeaseHolder?
    /// The incumbent, while the attempt is held.
    var incumbent: (any LeaseHolder)?
    var takeover: Takeover?
    /// Among the held attempts.
    var heldNumber: Int?
    var poll: TimerWatch?
}
