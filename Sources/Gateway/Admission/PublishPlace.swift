import Synchronization

/// A starting publish's place in its node's limit: taken with its grant, and given back once, when the publish is live, and
/// counts by itself, or over. A request that is dropped gives its place back. For any thread.
public final class PublishPlace: Sendable {
    /// Where it was taken; the same for as long as this lives.
    private let gate = AtomicLazyReference<AdmissionGate>()
    private let isTaken = Atomic<Bool>(false)

    public init() {}

    deinit { giveBack() }

    /// - Returns: false where there is none.
    func take(at gate: AdmissionGate) -> Bool {
        guard !isTaken.load(ordering: .acquiring) else { return true }
        guard gate.takePlace() else { return false }
        _ = self.gate.storeIfNil(gate)
        isTaken.store(true, ordering: .releasing)
        return true
    }

    /// Changes nothing where it was given back already, or never taken.
    public func giveBack() {
        if isTaken.exchange(false, ordering: .acquiringAndReleasing) { gate.load()?.givePlaceBack() }
    }
}
