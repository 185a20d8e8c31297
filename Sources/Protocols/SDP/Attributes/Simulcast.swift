/// `a=simulcast` (RFC 8853 §5.1): which encodings are sent and received at the same time.
public struct Simulcast: TypedAttribute, Equatable {
    public static let attributeName = "simulcast"
    /// One simulcast stream: its alternatives in order of preference.
    public struct Stream: Equatable, Sendable {
        public struct Alternative: Equatable, Sendable {
            public var identifier: String
            /// Written with `~`: accepted but not sent at first.
            public var isPaused: Bool

            public init(_ identifier: String, isPaused: Bool = false) {
                (self.identifier, self.isPaused) = (identifier, isPaused)
            }
        }

        public var alternatives: [Alternative]

        public init(_ alternatives: [Alternative]) { self.alternatives = alternatives }
    }

    public var send: [Stream] = []
    public var receive: [Stream] = []

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
