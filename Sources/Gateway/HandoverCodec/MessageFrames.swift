public import Sockets

/// Cuts messages into what their socket takes at once, and puts them together on the other side.
///
/// A frame is one message of the socket: a byte that says whether it is the last one, and a part. Descriptors travel with the
/// first frame.
public struct MessageFrames {
    /// Bytes of a message in one frame: the default buffer of a UNIX socket holds several.
    static let maximumPart = 32 * 1024

    private var bytes: [UInt8] = []
    private var descriptors: [OwnedDescriptor] = []

    public init() {}

    public static func cut(_ message: [UInt8], _ descriptors: [OwnedDescriptor] = []) -> [DescriptorMessage] {
        stride(from: 0, to: max(1, message.count), by: maximumPart).map { start in
            let part = message[start...].prefix(maximumPart)
            let isLast = part.endIndex == message.endIndex
            return DescriptorMessage(
                bytes: [isLast ? lastMark : moreMark] + part, descriptors: start == 0 ? descriptors : [])
        }
    }

    /// Takes the next frame.
    /// - Returns: the message that it completes; nil while parts are missing.
    public mutating func append(
        _ frame: DescriptorMessage
    ) throws(MessageError) -> (bytes: [UInt8], descriptors: [OwnedDescriptor])? {
        guard let mark = frame.bytes.first, mark == Self.lastMark || mark == Self.moreMark else { throw .malformed }
        guard frame.descriptors.isEmpty || bytes.isEmpty else { throw .malformed }
        guard bytes.count + frame.bytes.count - 1 <= MessageCodec.maximumLength else { throw .tooLong }
        bytes += frame.bytes.dropFirst()
        if bytes.count == frame.bytes.count - 1 { descriptors = frame.descriptors }
        guard mark == Self.lastMark else { return nil }
        defer { (bytes, descriptors) = ([], []) }
        return (bytes, descriptors)
    }

    private static let moreMark: UInt8 = 0
    private static let lastMark: UInt8 = 1
}
