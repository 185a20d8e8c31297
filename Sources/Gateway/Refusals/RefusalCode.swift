/// The one table of refusals: each row has its stable number, RTMP code, HTTP status, IVS error code and sentence.
///
/// docs/errors.md is generated from it (`stagedoor errors`), and a test compares the two. Numbers are never given twice.
public struct RefusalCode: Sendable, Hashable {
    public var number: Int
    /// The short name used as metric label and log field.
    public var name: String
    public var rtmp: RTMPStatus
    public var httpStatus: Int
    /// `EventErrorCode` of the API model; nil where no event is recorded.
    public var eventErrorCode: String?
    /// What to do, in a sentence that names the setting to change.
    public var sentence: String

    public var identifier: String { "SD-\(number)" }

    public enum RTMPStatus: String, Sendable {
        case denied = "NetStream.Publish.Denied"
        case badName = "NetStream.Publish.BadName"
        case rejected = "NetStream.Publish.Rejected"
        case connectRejected = "NetConnection.Connect.Rejected"
    }

    init(_ number: Int, _ name: String, _ rtmp: RTMPStatus, _ httpStatus: Int, event: String? = nil, _ sentence: String) {
        (self.number, self.name, self.rtmp, self.httpStatus) = (number, name, rtmp, httpStatus)
        (eventErrorCode, self.sentence) = (event, sentence)
    }

    public static func == (left: RefusalCode, right: RefusalCode) -> Bool { left.number == right.number }
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
