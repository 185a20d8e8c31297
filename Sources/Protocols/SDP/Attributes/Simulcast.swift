/// `a=simulcast` (RFC 8853 §5.1): which encodings are sent and received at the same time.
public struct Simulcast: TypedAttribute, Equatable {
    public static let attributeName = "simulcast"
    /// One simulcast stream: its alternatives in order of preference.
    public struct Stream: Equatable, Sendable {
        /// One encoding that the stream may have.
        public struct Alternative: Equatable, Sendable {
            /// An `a=rid` of the section.
            public var identifier: String
            /// Written with `~`: accepted but not sent at first.
            public var isPaused: Bool

            /// From its parts.
            public init(_ identifier: String, isPaused: Bool = false) {
                (self.identifier, self.isPaused) = (identifier, isPaused)
            }
        }

        /// At least one.
        public var alternatives: [Alternative]

        /// From its alternatives.
        public init(_ alternatives: [Alternative]) { self.alternatives = alternatives }
    }

    /// What the writer of the line sends.
    public var send: [Stream] = []
    /// What the writer of the line takes.
    public var receive: [Stream] = []

    /// From its parts.
    public init(send: [Stream] = [], receive: [Stream] = []) { (self.send, self.receive) = (send, receive) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard parts.count == 2 || parts.count == 4 else { return nil }
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let streams = Self.streams(parts[index + 1]) else { return nil }
            switch parts[index] {
            case "send" where send.isEmpty: send = streams
            case "recv" where receive.isEmpty: receive = streams
            default: return nil
            }
        }
    }

    private static func streams(_ text: Substring) -> [Stream]? {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count <= maximumStreamCount else { return nil }
        var streams: [Stream] = []
        for part in parts {
            var alternatives: [Stream.Alternative] = []
            for name in part.split(separator: ",", omittingEmptySubsequences: false) {
                let isPaused = name.hasPrefix("~")
                let identifier = isPaused ? name.dropFirst() : name
                guard RestrictionIdentifier.isIdentifier(identifier) else { return nil }
                alternatives.append(.init(String(identifier), isPaused: isPaused))
            }
            streams.append(Stream(alternatives))
        }
        return streams
    }

    public var attributeValue: String {
        let directions = [("send", send), ("recv", receive)].filter { !$0.1.isEmpty }
        return directions.map { word, streams in
            let list = streams.map { stream in
                stream.alternatives.map { ($0.isPaused ? "~" : "") + $0.identifier }.joined(separator: ",")
            }
            return word + " " + list.joined(separator: ";")
        }.joined(separator: " ")
    }

    static let maximumStreamCount = 16
}

/// `a=rid` (RFC 8851 §10): one encoding of a section.
public struct RestrictionIdentifier: TypedAttribute, Equatable {
    /// Whether the writer of the line sends or takes the encoding.
    public enum Direction: String, Sendable { case send, recv }

    public static let attributeName = "rid"
    /// Unique in its section.
    public var identifier: String
    /// As seen by the writer of the line.
    public var direction: Direction
    /// `pt=…;max-width=…` as written.
    public var restrictions: String?

    /// From its parts.
    public init(_ identifier: String, _ direction: Direction, restrictions: String? = nil) {
        (self.identifier, self.direction, self.restrictions) = (identifier, direction, restrictions)
    }

    /// The formats that `pt=` leaves to the encoding (RFC 8851 §5); nil without it, or where it cannot be read: all of the section's.
    public var payloadTypes: [UInt8]? {
        guard let list = restrictions?.split(separator: ";").first(where: { $0.hasPrefix("pt=") }) else { return nil }
        let words = list.dropFirst(3).split(separator: ",")
        let types = words.compactMap { UInt8($0) }
        return types.count == words.count ? types : nil
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 3)
        guard parts.count >= 2, Self.isIdentifier(parts[0]), let direction = Direction(rawValue: String(parts[1])) else {
            return nil
        }
        self.init(String(parts[0]), direction, restrictions: parts.count == 3 ? String(parts[2]) : nil)
    }

    public var attributeValue: String { "\(identifier) \(direction.rawValue)" + (restrictions.map { " " + $0 } ?? "") }

    /// RFC 8852 §3.1 allows letters and digits; `-` and `_` of RFC 8851 are seen as well.
    static func isIdentifier(_ text: Substring) -> Bool {
        (1...maximumIdentifierLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// What fits a one-byte header extension (RFC 8285 §4.2).
    public static let maximumIdentifierLength = 16
}
