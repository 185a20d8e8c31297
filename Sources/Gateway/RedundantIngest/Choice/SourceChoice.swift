import Wire

/// Which of two encoders is the source of their participant, and when that changes. A value without clock.
///
/// A source is left when it stands still or has gone, when it is poor while the other one is well, or when an operator says so.
/// While both are well nothing happens, and who was left is not returned to for being a little better within ten seconds.
struct SourceChoice {
    /// Why the source is another one than before.
    enum Reason: String, CaseIterable, Sendable {
        /// There was none.
        case begin
        /// Its media stood still.
        case stall
        /// Its connection ended.
        case end
        /// It broke the media contract.
        case breach
        /// It lagged, or lost pictures, and the other one did not.
        case health
        case `operator`
    }

    struct Switch: Equatable {
        var encoder: Int
        var reason: Reason
    }

    /// The number of the source, 1 or 2; nil before there was one, and once it has gone.
    private(set) var current: Int?
    private(set) var switchedAt: MonotonicTime?
    /// Why the last source has gone.
    private var loss: Reason?
    private var order: Int?

    /// No switching back by itself within this time.
    static let rest = Duration.seconds(10)

    /// An operator wants this one; forgotten when it goes.
    mutating func ordered(_ encoder: Int) { order = encoder == current ? nil : encoder }

    /// An encoder is gone.
    mutating func gone(_ encoder: Int, because reason: Reason) {
        if order == encoder { order = nil }
        if current == encoder { (current, loss) = (nil, reason) }
    }

    /// - Parameter level: how an encoder is; nil of one that is not there.
    /// - Returns: what is wanted now; it may take until that one's next keyframe.
    func wanted(at now: MonotonicTime, level: (_ encoder: Int) -> SourceHealth.Level?) -> Switch? {
        guard let current else { return first(level) }
        let other = 3 - current
        guard let otherLevel = level(other), otherLevel > .still else { return nil }
        if order == other { return Switch(encoder: other, reason: .operator) }
        let ownLevel = level(current) ?? .still
        if ownLevel == .still { return Switch(encoder: other, reason: .stall) }
        let hasRested = switchedAt.map { now - $0 >= Self.rest } ?? true
        return ownLevel < .well && otherLevel == .well && hasRested ? Switch(encoder: other, reason: .health) : nil
    }

    private func first(_ level: (_ encoder: Int) -> SourceHealth.Level?) -> Switch? {
        let living = [1, 2].filter { level($0).map { $0 > .still } ?? false }
        let best = living.max { (level($0) ?? .still, $1) < (level($1) ?? .still, $0) }
        return best.map { Switch(encoder: $0, reason: loss ?? .begin) }
    }

    mutating func switched(to encoder: Int, at now: MonotonicTime) {
        (current, switchedAt, loss) = (encoder, now, nil)
        if order == encoder { order = nil }
    }
}
