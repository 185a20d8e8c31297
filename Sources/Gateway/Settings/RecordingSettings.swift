/// Recording of what participants publish.
public struct RecordingSettings: Equatable, Sendable {
    /// Where everybody is recorded who publishes; empty: nobody is.
    public var directory = ""
    /// What segments may take of the data directory's disk until they are stored.
    public var spool = ByteSize.mebibytes(8 << 10)

    public init() {}
}
