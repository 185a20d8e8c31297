/// Recording of what participants publish.
public struct RecordingSettings: Equatable, Sendable {
    /// What sound is recorded as.
    public enum Audio: String, CaseIterable, Sendable {
        /// RTMP's AAC and WHIP's Opus.
        case original
        /// For players that know no Opus in MP4.
        case aac
    }

    /// Where everybody is recorded whose stage says nothing else; empty: nobody is.
    public var directory = ""
    /// What segments may take of the data directory's disk until they are stored.
    public var spool = ByteSize.mebibytes(8 << 10)
    public var audio = Audio.original

    public init() {}
}
