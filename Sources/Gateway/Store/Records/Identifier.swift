import Wire

/// Unguessable names, drawn from the system's random source (getrandom).
public enum Identifier {
    private static let alphanumerics = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// - Parameter count: characters, 5.95 bits each.
    public static func random(_ count: Int) -> String {
        var source = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in alphanumerics[Int.random(in: 0..<alphanumerics.count, using: &source)] })
    }

    /// Stage, ingest configuration and participant ids: 71 bits.
    public static func resource() -> String { random(12) }

    /// `StageSessionId` of the API model: exactly 16 characters.
    public static func stageSession() -> String { "st-" + random(13) }

    /// RFC 9562 version 4.
    public static func uuid() -> String {
        var source = SystemRandomNumberGenerator()
        return String(uuid: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &source) }, version: 4)
    }
}
