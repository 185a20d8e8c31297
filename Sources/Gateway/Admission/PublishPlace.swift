import Synchronization

/// A publish's place at its node while it is set up: taken with its grant, given back once when it is live, which counts by itself
/// then, or over. A request that is forgotten gives it back as it goes. For any thread.
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

    public func giveBack() {
        if isTaken.exchange(false, ordering: .acquiringAndReleasing) { gate.load()?.givePlaceBack() }
    }
}
