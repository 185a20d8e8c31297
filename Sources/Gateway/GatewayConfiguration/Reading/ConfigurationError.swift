/// Everything that is wrong with a configuration, at once.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    public struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The key, or the variable.
        public var key: String
        public var message: String

        public var description: String { "\(key): \(message)" }
    }

    public var problems: [Problem]

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
