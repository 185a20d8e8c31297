/// `a=fmtp` (RFC 8866 §6.15), as the list of `name=value` that RTP payload formats write.
public struct FormatParameters: TypedAttribute, Equatable {
    public static let attributeName = "fmtp"
    public struct Parameter: Equatable, Sendable {
        public var name: String
        /// nil for a bare word such as telephone-event's `0-15`.
        public var value: String?

        public init(_ name: String, _ value: String?) { (self.name, self.value) = (name, value) }
    }

    public var payloadType: UInt8
    public var parameters: [Parameter]

    public init(payloadType: UInt8, _ parameters: [Parameter]) {
        (self.payloadType, self.parameters) = (payloadType, parameters)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 2)
        guard let first = parts.first, let payloadType = UInt8(first), payloadType < 128 else { return nil }
        let list = parts.count == 2 ? split(parts[1], at: ";") : []
        guard list.count <= Self.maximumParameterCount else { return nil }
        self.init(payloadType: payloadType, list.compactMap(Self.parameter))
    }

    private static func parameter(_ text: Substring) -> Parameter? {
        let trimmed = text.utf8.drop { $0 == UInt8(ascii: " ") }
        guard !trimmed.isEmpty else { return nil }
        let pair = split(Substring(trimmed), at: "=", maximum: 2)
        return Parameter(String(pair[0]), pair.count == 2 ? String(pair[1]) : nil)
    }

    public var attributeValue: String {
        "\(payloadType) "
            + parameters.map { $0.value.map { [name = $0.name] in "\(name)=\($0)" } ?? $0.name }.joined(separator: ";")
    }

    /// The value of a parameter, whose name is compared without case (RFC 6184 and 7587 are read so by all).
    public subscript(name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Opus, the longest list seen, has 8.
    static let maximumParameterCount = 64
}
