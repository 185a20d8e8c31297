import Wire

/// A datagram that came to the media port: its bytes where they lie, by which way, and when.
///
/// Valid for the call that hands it on.
@safe struct ReceivedDatagram {
    /// To be changed in place.
    let payload: UnsafeMutableRawBufferPointer
    let path: MediaPath
    let arrival: MonotonicTime

    /// The payload, for those who only read it.
    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(payload) }
}
