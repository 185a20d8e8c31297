/// One message, put together from its chunks (RTMP 1.0 §6.1).
///
/// `payload` lies in the input or in the reader's own buffer: it is valid until the reader is asked for the next message.
public struct RTMPMessage {
    public var type: UInt8
    /// Milliseconds, modulo 2^32.
    public var timestamp: UInt32
    public var streamID: UInt32
    public var payload: UnsafeRawBufferPointer

    public init(type: UInt8, timestamp: UInt32, streamID: UInt32, payload: UnsafeRawBufferPointer) {
        (self.type, self.timestamp, self.streamID, self.payload) = (type, timestamp, streamID, payload)
    }
}

/// Message type ids (RTMP 1.0 §5.4, §7.1).
public enum RTMPMessageType {
    public static let setChunkSize: UInt8 = 1
    public static let abort: UInt8 = 2
    public static let acknowledgement: UInt8 = 3
    public static let userControl: UInt8 = 4
    public static let windowAcknowledgementSize: UInt8 = 5
    public static let setPeerBandwidth: UInt8 = 6
    public static let audio: UInt8 = 8
    public static let video: UInt8 = 9
    public static let dataAMF3: UInt8 = 15
    public static let commandAMF3: UInt8 = 17
    public static let dataAMF0: UInt8 = 18
    public static let commandAMF0: UInt8 = 20
    public static let aggregate: UInt8 = 22
}
