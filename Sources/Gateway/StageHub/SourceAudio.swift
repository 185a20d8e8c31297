public import Wire

/// How an encoder's audio came, where the hub's own packets are made from it (RTMP's AAC).
public enum SourceAudioFormat: Sendable, Equatable {
    /// AAC-LC: the bytes of its AudioSpecificConfig.
    case aac(configuration: [UInt8])
}

/// A sink that keeps audio as it came, beside or in place of the packets made from it.
public protocol SourceAudioSink: MediaSink {
    /// The format became known or changed; nil: the hub's packets are audio as it comes.
    func sourceAudioChanged(to format: SourceAudioFormat?)
    /// One frame of it, valid until this returns. Never blocks, never fails.
    /// - Parameter mediaTime: on the session's timeline, as the video's.
    func forwardSourceAudio(_ frame: UnsafeRawBufferPointer, at mediaTime: Duration, arrival: MonotonicTime)
}
