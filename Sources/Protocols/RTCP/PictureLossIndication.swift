public import Wire

/// PLI (RFC 4585 §6.3.1): the decoder wants a picture it can start from.
public struct PictureLossIndication: Equatable, Sendable {
    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32

    public init(senderSSRC: UInt32, mediaSSRC: UInt32) { (self.senderSSRC, self.mediaSSRC) = (senderSSRC, mediaSSRC) }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), let mediaSSRC = reader.read(UInt32.self) else { return nil }
        self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC)
    }

    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.payloadFeedback, count: FeedbackMessageType.pictureLoss) { body in
            body.write(senderSSRC)
            body.write(mediaSSRC)
        }
    }
}
