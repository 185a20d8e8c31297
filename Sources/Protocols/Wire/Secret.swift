/// Bytes that must never be printed: a stream key, token, password, SDES key or signing secret.
///
/// It has no Codable and prints as `‹secret›`; taking its bytes is one named call, so that every use can be found.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    /// Takes the bytes; the caller's own copy is the caller's to clear.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// The UTF-8 of `text`.
    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// The bytes themselves. Never pass the result to a log, a metric or a message.
    public func reveal() -> [UInt8] { bytes }
    /// The bytes as UTF-8 text. Never pass the result to a log, a metric or a message.
    public func revealText() -> String { String(decoding: bytes, as: UTF8.self) }

    /// Bytes.
    public var count: Int { bytes.count }
    /// Whether there are no bytes.
    public var isEmpty: Bool { bytes.isEmpty }

    public var description: String { "‹secret›" }
    public var debugDescription: String { "‹secret›" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Compares every byte whatever the first difference, so that time tells nothing but the length.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return zip(left.bytes, right.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
