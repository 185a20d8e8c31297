/// An error that the server answered: its first word, which programs decide by, and the line for people.
public struct RedisRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// `ERR`, `NOSCRIPT`, `READONLY`, `MOVED`, …
    public let code: String
    /// The whole line, the code included.
    public let message: String

    public init(_ message: String) {
        self.message = message
        code = message.prefix { $0 != " " }.description
    }

    public var description: String { message }

    /// Whether the server says that it is not, or not yet, the primary that we took it for.
    var isOfAnotherPrimary: Bool { ["READONLY", "LOADING", "MASTERDOWN"].contains(code) }
}
