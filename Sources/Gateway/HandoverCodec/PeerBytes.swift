import EventLoop

/// Bytes or text that a peer has chosen, in a message of `MessageCodec`: the JSON holds only their place among those behind it.
public struct PeerBytes: Sendable, Equatable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    static let key: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "bytes of peers") else { preconditionFailure("every text is a key") }
        return key
    }()
}

extension PeerBytes: Codable {
    public func encode(to encoder: any Encoder) throws {
        guard let attached = encoder.userInfo[Self.key] as? Lock<[[UInt8]]> else { throw MessageError.malformed }
        let place = attached.withLock { [bytes] attached in
            attached.append(bytes)
            return attached.count - 1
        }
        var container = encoder.singleValueContainer()
        try container.encode(place)
    }

    public init(from decoder: any Decoder) throws {
        let place = try decoder.singleValueContainer().decode(Int.self)
        guard let attached = decoder.userInfo[Self.key] as? Lock<[[UInt8]]> else { throw MessageError.malformed }
        let found = attached.withLock { $0.indices.contains(place) ? $0[place] : nil }
        guard let found else { throw MessageError.malformed }
        bytes = found
    }
}
