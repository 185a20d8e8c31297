/// What a session tells its owner. What comes once a publish is boxed, so that media, which comes always, is moved in registers.
public enum RTMPEvent {
    /// To be answered with `acceptConnect` or `rejectConnect`; nothing more is read until then.
    indirect case connect(ConnectRequest)
    /// To be answered with `acceptPublish` or `rejectPublish`; nothing more is read until then, be it seconds.
    indirect case publish(PublishTarget)
    case audio(RTMPMedia)
    case video(RTMPMedia)
    /// A data message such as onMetaData, as AMF 0.
    case data(RTMPMedia)
    /// FCUnpublish, closeStream or deleteStream: another `publish` may follow.
    case unpublished
}

/// One media message. `payload` is valid until the session is asked for the next event.
public struct RTMPMedia {
    /// Unwrapped milliseconds: never negative steps of 2^32.
    public var timestamp: Int64
    public var payload: UnsafeRawBufferPointer

    public init(timestamp: Int64, payload: UnsafeRawBufferPointer) { (self.timestamp, self.payload) = (timestamp, payload) }
}
