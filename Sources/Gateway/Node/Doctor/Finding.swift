/// One thing the doctor saw.
public struct Finding: Sendable {
    public enum Level: Sendable { case fine, warning, failure }

    public var level: Level
    public var text: String

    /// Four characters, for the beginning of a line.
    public var mark: String {
        switch level {
        case .fine: "ok  "
        case .warning: "look"
        case .failure: "FAIL"
        }
    }

    static func fine(_ text: String) -> Finding { Finding(level: .fine, text: text) }
    static func warning(_ text: String) -> Finding { Finding(level: .warning, text: text) }
    static func failure(_ text: String) -> Finding { Finding(level: .failure, text: text) }
}
