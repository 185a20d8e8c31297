import Settings

/// What one process of a gateway has still to tell an encoder, on its way to the process that will be asked (docs/design.md 4.6).
/// Times are those of the machine's monotonic clock, which both processes read, in nanoseconds.
public struct HandedRefusal: Codable, Sendable, Equatable {
    /// The credential's hash.
    var credential: String
    var source: String
    var product: String
    var rules: ContractSettings
    /// Of the refusal in the table.
    var number: Int
    var sentence: String
    var refusedAt: Int64
    var violations: [Int64]
    var barredUntil: Int64?
    var barCount: Int
}
