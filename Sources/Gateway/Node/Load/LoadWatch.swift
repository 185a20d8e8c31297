import Settings
import Wire

/// Decides by measured load when new publishes are refused, before live ones suffer.
///
/// A value without a clock. It closes when a limit is passed at several looks in a row: one look alone may be a handshake storm,
/// or a pause of the machine, which delays loops of idle processes too. It opens again when everything has stayed a tenth below
/// the limits for a while, so that it does not flap.
struct LoadWatch: Sendable {
    enum Measure: String, Sendable, CaseIterable {
        case cpu, loopLag, descriptors, memory
    }

    var limits: OverloadSettings
    /// What is over its limit; nil while new publishes are taken.
    private(set) var reason: Measure?
    private var looksOver = 0
    private var looksEased = 0

    init(_ limits: OverloadSettings) { self.limits = limits }

    var isOverloaded: Bool { reason != nil }

    /// Takes one look; looks come once a second.
    mutating func look(at load: NodeLoad) {
        if let over = measure(of: load, beyond: 1) {
            (looksOver, looksEased) = (looksOver + 1, 0)
            if looksOver >= (over == .loopLag ? Self.looksToCloseByLag : Self.looksToClose) { reason = over }
            return
        }
        looksOver = 0
        looksEased = measure(of: load, beyond: Self.easedShare) == nil ? looksEased + 1 : 0
        if looksEased >= Self.looksToOpen { reason = nil }
    }

    /// The first measure beyond that share of its limit.
    private func measure(of load: NodeLoad, beyond share: Double) -> Measure? {
        if load.cpu > Double(limits.cpu) / 100 * share { return .cpu }
        if load.loopLag.inSeconds > limits.loopLag.inSeconds * share { return .loopLag }
        if load.descriptors > Double(limits.descriptors) / 100 * share { return .descriptors }
        if limits.memory.bytes > 0, Double(load.memory) > Double(limits.memory.bytes) * share { return .memory }
        return nil
    }

    /// Looks in a row over a limit that close, and looks well below all limits that open again.
    static let looksToClose = 3
    static let looksToCloseByLag = 5
    static let looksToOpen = 5
    /// What of a limit counts as well below it.
    static let easedShare = 0.9
}
