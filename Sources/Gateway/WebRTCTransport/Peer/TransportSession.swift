public import Refusals
public import Wire

/// What a session does with its transport: a publisher receives media, a subscriber sends it. Confined to the owning worker.
public protocol TransportSession: AnyObject {
    /// Whether `tick` is wanted every 10 ms, not only every 50.
    var wantsEveryTick: Bool { get }
    /// DTLS is done, the fingerprint fits, the keys are in place.
    func transportReady()
    /// One plain RTP packet, where it was received: its bytes stay until `flush` when the session asked to `gather`.
    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime)
    /// One plain RTCP compound.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime)
    /// The batch of datagrams ends, after a `gather`.
    func flush()
    /// - Parameter isSlow: true every 100 ms.
    func tick(at now: MonotonicTime, isSlow: Bool)
    /// The last call, once.
    func transportEnded(_ reason: SessionEnd)
}

/// Makes the sessions of one purpose on one worker.
public protocol TransportSessionMaker: AnyObject {
    /// A worker claimed `entry`, whose purpose is this maker's.
    func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession
}
