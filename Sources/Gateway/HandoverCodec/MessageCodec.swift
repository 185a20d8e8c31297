import EventLoop
import Foundation
import Wire

/// A message of a handover as bytes: JSON, and behind it what peers have chosen, byte for byte.
///
/// ```
/// length of the JSON (4) | JSON | { length (4) | PeerBytes } …
/// ```
/// What a peer sends so takes as many bytes here as it had, whatever they are; JSON would take up to six for one.
public enum MessageCodec {
    /// Of one message, far above the largest that is ever told: a test sends each kind at its largest.
    public static let maximumLength = 4 * 1024 * 1024

    /// Nil when it would be longer, or holds what JSON has no words for.
    public static func encode(_ message: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let attached = Lock<[[UInt8]]>([])
        encoder.userInfo[PeerBytes.key] = attached
        guard let json = try? encoder.encode(message) else { return nil }
        let parts = [[UInt8](json)] + attached.withLock { $0 }
        guard parts.reduce(0, { $0 + lengthSize + $1.count }) <= maximumLength else { return nil }
        var writer = ByteWriter()
        for part in parts {
            writer.write(UInt32(part.count))
            writer.write(contentsOf: part)
        }
        return writer.bytes
    }

    public static func decode<Message: Decodable>(
        _ type: Message.Type, from bytes: [UInt8]
    ) throws(MessageError) -> Message {
        var parts: [[UInt8]] = []
        var reader = ByteReader(bytes.span.bytes)
        while !reader.isAtEnd {
            guard let length = reader.read(UInt32.self), let part = reader.readBytes(count: Int(length)) else {
                throw .malformed
            }
            parts.append(part)
        }
        guard let json = parts.first else { throw .malformed }
        let decoder = JSONDecoder()
        decoder.userInfo[PeerBytes.key] = Lock(Array(parts.dropFirst()))
        guard let message = try? decoder.decode(type, from: Data(json)) else { throw .malformed }
        return message
    }

    private static let lengthSize = 4
}

/// What the other process should never have sent.
public enum MessageError: Error, Equatable, Sendable {
    case malformed
    /// Beyond `MessageCodec.maximumLength`.
    case tooLong
}
