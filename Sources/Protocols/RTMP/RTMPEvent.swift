import AMF0

/// What a session tells its owner. What comes once a publish is boxed, so that media, which comes always, is moved in registers.
public enum RTMPEvent {
    /// To be answered with `acceptConnect`; nothing more is read until then.
    indirect case connect(ConnectRequest)
    /// To be answered with `acceptPublish` or `rejectPublish`; nothing more is read until then, be it seconds.
    indirect case publish(PublishTarget)
    /// An audio message of a live publish; `AudioTag` opens it.
    case audio(RTMPMedia)
    /// A video message of a live publish; `VideoTag` opens it.
    case video(RTMPMedia)
    /// A data message such as onMetaData, as AMF 0.
    case data(RTMPMedia)
    /// FCUnpublish, closeStream or deleteStream: another `publish` may follow.
    case unpublished
}

/// One media message. `payload` is valid until the session is asked for the next event.
@safe public struct RTMPMedia {
    /// Unwrapped milliseconds: they go on where the 32 bits of a message begin anew.
    public var timestamp: Int64
    /// The message's body, where it lies.
    public var payload: UnsafeRawBufferPointer

    /// From its parts.
    public init(timestamp: Int64, payload: UnsafeRawBufferPointer) {
        unsafe (self.timestamp, self.payload) = unsafe (timestamp, payload)
    }
}

/// What an encoder says of itself and of where it wants to go (RTMP 1.0 §7.2.1.1, Enhanced RTMP v2 "connect").
///
/// Text is the peer's: it may hold the stream key, and is never to be logged as it is.
public struct ConnectRequest: Equatable, Sendable {
    /// The application, as sent.
    public let app: String
    /// Without the quotes that some encoders put around it.
    public let tcURL: String
    /// Where both lead.
    public let target: ConnectTarget
    /// What the encoder calls itself: `FMLE/3.0 …`.
    public var flashVersion: String
    /// What the peer can do of Enhanced RTMP v2; nil when it names nothing of it.
    public var enhancedCapabilities: EnhancedCapabilities?

    /// It says which capabilities it has, be it none.
    var tellsCapabilities: Bool
    /// 3 when the peer asked for AMF 3, else 0. Flash fails where the answer is another, and needs none of it to publish.
    var objectEncoding: Double
    var transactionID: Double

    /// An object is specified; ECMA arrays, `tcurl`, and quotes around the URL are seen as well.
    init(_ command: RTMPCommand) {
        let object = command.object.members ?? AMF0Object()
        func text(_ name: String) -> String { object.value(ignoringCaseOf: name)?.string ?? "" }
        app = text("app")
        tcURL = Self.unquoted(text("tcUrl"))
        target = ConnectTarget(app: app, tcURL: tcURL)
        flashVersion = text("flashVer")
        (enhancedCapabilities, tellsCapabilities) = (EnhancedCapabilities(object), object["capsEx"] != nil)
        objectEncoding = object["objectEncoding"]?.number == 3 ? 3 : 0
        transactionID = command.transactionID
    }

    private static func unquoted(_ text: String) -> String {
        let quote = UInt8(ascii: "'")
        guard text.utf8.contains(quote) else { return text }
        return String(Substring(text.utf8.drop { $0 == quote }.prefix { $0 != quote }))
    }
}

/// The `capsEx` flags of Enhanced RTMP v2.
public struct EnhancedCapabilities: OptionSet, Equatable, Sendable {
    /// The flags as sent.
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// It follows a Reconnect Request.
    public static let reconnect = EnhancedCapabilities(rawValue: 1)
    /// It knows messages of several tracks.
    public static let multitrack = EnhancedCapabilities(rawValue: 2)
    /// It knows ModEx packets.
    public static let modEx = EnhancedCapabilities(rawValue: 4)
    /// It knows the nanosecond offset of timestamps.
    public static let timestampNanoOffset = EnhancedCapabilities(rawValue: 8)

    /// What we say.
    static let ours: EnhancedCapabilities = [.reconnect, .multitrack, .modEx, .timestampNanoOffset]

    /// What tells an encoder of Enhanced RTMP from others.
    private static let members = ["fourCcList", "videoFourCcInfoMap", "audioFourCcInfoMap", "capsEx"]

    /// Nil when `connect` names neither a code list, nor a map, nor capabilities.
    init?(_ object: AMF0Object) {
        guard Self.members.contains(where: { object[$0] != nil }) else { return nil }
        self.init(rawValue: UInt32(exactly: object["capsEx"]?.number ?? 0) ?? 0)
    }
}
