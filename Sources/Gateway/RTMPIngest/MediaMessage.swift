import FLV
import Wire

/// One media message while it is received: its bytes, which the caller lends, and the pipeline's counters with what it adds.
///
/// The counters are a copy: an access to the pipeline's own that lasts as long as the message is looked at would be checked.
@safe struct MediaMessage {
    let payload: UnsafeRawBufferPointer
    /// Unwrapped milliseconds.
    let timestamp: Int64
    let arrival: MonotonicTime
    var counters: PipelineCounters

    var byteCount: Int { unsafe payload.count }

    /// The payload of one of its tracks.
    func body(of tag: some TrackTag) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: payload[tag.body])
    }

    func stamp(of tag: some TrackTag) -> Duration {
        .milliseconds(timestamp) + .nanoseconds(Int64(tag.nanosecondOffset))
    }
}

/// The tracks of one message, in their order. A value; what cannot be read is counted, and ends it.
struct MessageTracks<Tag: TrackTag> {
    private var following: Tag?
    /// Where the share of that one begins.
    private var start = 0

    /// Nil where there is none.
    init?(of message: inout MediaMessage) {
        let payload = unsafe message.payload
        if unsafe payload.isEmpty { return nil }  // some encoders send one when they pause
        guard let first = try? unsafe Tag(parsing: payload.bytes) else {
            message.counters.malformed += 1
            return nil
        }
        following = first
    }

    /// The next track, with its share of the message, which reaches to the end of its payload: together they are the message.
    mutating func next(in message: inout MediaMessage) -> (tag: Tag, byteCount: Int)? {
        guard let tag = following else { return nil }
        let payload = unsafe message.payload
        do { following = try unsafe tag.next(in: payload.bytes) } catch {
            following = nil
            message.counters.malformed += 1
        }
        let end = following == nil ? payload.count : tag.body.upperBound
        defer { start = end }
        return (tag, end - start)
    }
}

/// What messages of video and audio have alike: a head for each of their tracks.
protocol TrackTag {
    /// The first track of a message.
    init(parsing message: RawSpan) throws(FLVError)
    /// The next track of the same message; nil after the last.
    func next(in message: RawSpan) throws(FLVError) -> Self?
    /// The payload, as offsets into the message.
    var body: Range<Int> { get }
    /// Added to the message's timestamp.
    var nanosecondOffset: UInt32 { get }
    /// The encoder's number of it.
    var trackID: UInt8 { get }
    /// It has a sequence header or a frame: what else there is may name no track.
    var showsTrack: Bool { get }
}

extension VideoTag: TrackTag {
    var showsTrack: Bool { packet == .sequenceStart || packet == .codedFrames }
}

extension AudioTag: TrackTag {
    var showsTrack: Bool { packet == .sequenceStart || packet == .codedFrames }
}
