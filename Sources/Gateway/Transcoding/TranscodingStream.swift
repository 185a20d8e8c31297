/// One AAC stream on its way to Opus. Confined to its transcoder's loop; dropping it closes it.
public final class TranscodingStream {
    private let id: UInt64
    private let lane: Int
    private let transcoder: AudioTranscoder

    init(id: UInt64, lane: Int, transcoder: AudioTranscoder) {
        (self.id, self.lane, self.transcoder) = (id, lane, transcoder)
    }

    deinit { transcoder.close(id, lane: lane) }

    /// Hands over one raw AAC frame, which is copied.
    /// - Parameter mediaTime: of its first sample, in unwrapped ticks of 48 kHz (48 times RTMP's milliseconds).
    public func submit(_ frame: UnsafeRawBufferPointer, mediaTime: Int64) {
        transcoder.submit(frame, mediaTime: mediaTime, of: id, lane: lane)
    }

    /// Nothing more is received after this.
    public func close() { transcoder.close(id, lane: lane) }
}
