import AMF0
import FLV
import Wire

/// One message, put together from its chunks (RTMP 1.0 §6.1).
///
/// `payload` lies in the input or in a buffer that the reader holds: it is valid until the reader is asked for the next message.
@safe public struct RTMPMessage {
    /// One of `RTMPMessageType`, or any other number.
    public var type: UInt8
    /// Milliseconds, modulo 2^32.
    public var timestamp: UInt32
    /// 0 for control; else what createStream gave.
    public var streamID: UInt32
    /// The message's body.
    public var payload: UnsafeRawBufferPointer

    /// From its parts.
    public init(type: UInt8, timestamp: UInt32, streamID: UInt32, payload: UnsafeRawBufferPointer) {
        unsafe (self.type, self.timestamp, self.streamID, self.payload) = (type, timestamp, streamID, payload)
    }
}

/// Message type ids (RTMP 1.0 §5.4, §7.1).
public enum RTMPMessageType {
    /// Handled by `ChunkReader`.
    public static let setChunkSize: UInt8 = 1
    /// Handled by `ChunkReader`.
    public static let abort: UInt8 = 2
    /// So many bytes have been received.
    public static let acknowledgement: UInt8 = 3
    /// Pings and stream marks (§7.1.7).
    public static let userControl: UInt8 = 4
    /// Acknowledge after so many bytes.
    public static let windowAcknowledgementSize: UInt8 = 5
    /// How much may be sent unacknowledged.
    public static let setPeerBandwidth: UInt8 = 6
    /// `AudioTag` opens it.
    public static let audio: UInt8 = 8
    /// `VideoTag` opens it.
    public static let video: UInt8 = 9
    /// Data with a byte 0 before its AMF 0.
    public static let dataAMF3: UInt8 = 15
    /// A command with a byte 0 before its AMF 0.
    public static let commandAMF3: UInt8 = 17
    /// Data such as onMetaData.
    public static let dataAMF0: UInt8 = 18
    /// A command.
    public static let commandAMF0: UInt8 = 20
    /// Several FLV tags in one message (§7.1.6).
    public static let aggregate: UInt8 = 22
}

/// User control event types (RTMP 1.0 §7.1.7).
enum UserControlEvent {
    static let streamBegin: UInt16 = 0
    static let pingRequest: UInt16 = 6
    static let pingResponse: UInt16 = 7
}

/// Walks the FLV tags of an aggregate message (RTMP 1.0 §7.1.6); their stamps count from the message's own.
@safe struct AggregateCursor {
    private let payload: UnsafeRawBufferPointer
    private let timestamp: UInt32
    private let streamID: UInt32
    private var offset = 0
    private var first: UInt32?

    init(_ message: RTMPMessage) {
        unsafe (payload, timestamp, streamID) = unsafe (message.payload, message.timestamp, message.streamID)
    }

    /// The next tag as the message it stands for; nil at the end, and where the rest makes no sense.
    mutating func next() -> RTMPMessage? {
        guard let tag = unsafe try? FLVTag.next(in: payload.bytes, at: &offset) else { return nil }
        if first == nil { first = tag.timestamp }
        return unsafe RTMPMessage(
            type: tag.type, timestamp: timestamp &+ tag.timestamp &- (first ?? 0), streamID: streamID,
            payload: UnsafeRawBufferPointer(rebasing: payload[tag.body]))
    }
}

/// A command message: name, transaction id, command object and arguments (RTMP 1.0 §7.1.1).
struct RTMPCommand {
    var name: String
    /// 0 when no answer is wanted.
    var transactionID: Double
    var object: AMF0Value
    /// A slice, because what was read is not copied.
    var arguments: ArraySlice<AMF0Value>

    init(name: String, transactionID: Double = 0, object: AMF0Value = .null, arguments: [AMF0Value] = []) {
        (self.name, self.transactionID, self.object, self.arguments) = (name, transactionID, object, arguments[...])
    }

    /// From the body of a message of type 20, or of type 17: there one byte 0 stands before the same AMF 0.
    /// - Returns: nil for a body that does not begin with a name; such noise is passed over.
    init?(parsing message: RTMPMessage) throws(RTMPError) {
        var body = unsafe message.payload
        if message.type == RTMPMessageType.commandAMF3, unsafe body.first == 0 {
            unsafe body = UnsafeRawBufferPointer(rebasing: body.dropFirst())
        }
        let values: [AMF0Value]
        do { values = unsafe try AMF0Decoder.values(in: body.bytes) } catch { throw .malformedCommand(error) }
        guard let name = values.first?.string else { return nil }
        self.name = name
        transactionID = values.count > 1 ? values[1].number ?? 0 : 0
        object = values.count > 2 ? values[2] : .null
        arguments = values.dropFirst(3)
    }

    /// The body of a message of type 20.
    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        AMF0Value.string(name).write(into: &writer)
        AMF0Value.number(transactionID).write(into: &writer)
        object.write(into: &writer)
        for argument in arguments { argument.write(into: &writer) }
        return writer.bytes
    }
}
