public import Wire

/// One RTP payload on its way, before it has a sink's SSRC, payload type and constants.
///
/// `payload` lies in the ingest's buffers: it is valid until the call that hands it over returns. Sinks that keep it copy it.
@frozen
@safe public struct MediaPacket {
    /// The publisher's extended sequence number; gaps in it are kept to the router, never renumbered away.
    public var sequenceNumber: Int64
    /// Unwrapped RTP time: 90,000 a second for video, 48,000 for audio.
    public var timestamp: Int64
    /// The last packet of an access unit, or the first of a talkspurt (RFC 3550 §5.1).
    public var marker: Bool
    /// Bytes that stand before `payload`, such as a FU-A indicator and header; `headCount` of them, at most 4.
    public var head: UInt32
    public var headCount: UInt8
    /// What follows `head`; without it the whole RTP payload.
    public var payload: UnsafeRawBufferPointer

    /// - Parameter head: the bytes before the payload, first byte in the low bits.
    @inlinable
    public init(
        sequenceNumber: Int64, timestamp: Int64, marker: Bool, head: UInt32 = 0, headCount: UInt8 = 0,
        payload: UnsafeRawBufferPointer
    ) {
        (self.sequenceNumber, self.timestamp, self.marker) = (sequenceNumber, timestamp, marker)
        unsafe (self.head, self.headCount, self.payload) = unsafe (head, headCount, payload)
    }

    /// Bytes of RTP payload.
    @inlinable public var payloadByteCount: Int { unsafe Int(headCount) + payload.count }

    /// Copies the RTP payload behind `bytes`.
    @inlinable
    public func appendPayload(to bytes: inout [UInt8]) {
        for index in 0..<UInt32(headCount) { bytes.append(UInt8(truncatingIfNeeded: head >> (8 * index))) }
        unsafe bytes.append(contentsOf: payload)
    }

    /// The same packet, its RTP payload in one piece at the beginning of `memory`: it is valid as long as that is.
    /// - Returns: nil where there is no room.
    @inlinable
    public func copied(into memory: UnsafeMutableRawBufferPointer) -> MediaPacket? {
        let count = payloadByteCount
        guard count <= memory.count, let room = memory.baseAddress else { return nil }
        for index in 0..<Int(headCount) {
            let byte = UInt8(truncatingIfNeeded: head >> (8 * UInt32(index)))
            unsafe room.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
        if let bytes = unsafe payload.baseAddress {
            unsafe (room + Int(headCount)).copyMemory(from: bytes, byteCount: payload.count)
        }
        return unsafe MediaPacket(
            sequenceNumber: sequenceNumber, timestamp: timestamp, marker: marker,
            payload: UnsafeRawBufferPointer(start: room, count: count))
    }
}

/// What a sink must know of the packets it is handed together: those of one access unit, audio frame or datagram.
@frozen
public struct MediaRun {
    public var track: TrackID
    /// The run begins an IDR access unit (its parameter sets included): a decoder can start here.
    public var isKeyframe: Bool
    /// When the last byte of it reached us.
    public var arrival: MonotonicTime

    @inlinable
    public init(track: TrackID, isKeyframe: Bool, arrival: MonotonicTime) {
        (self.track, self.isKeyframe, self.arrival) = (track, isKeyframe, arrival)
    }
}
