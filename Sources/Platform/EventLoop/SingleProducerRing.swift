public import Synchronization

/// A queue of fixed capacity from one thread to one other, without a lock, a wait or an allocation.
///
/// One thread is the producer and calls `push` and `oldestHeldSlot`; one other is the consumer and calls `drain` and `release`.
/// Both ends may move to another thread if that is ordered after everything done there before (a mailbox message does it).
///
/// Memory order: positions only rise. The slots in [`released`, `pushed`) are the consumer's, all others the producer's. The
/// producer writes a slot, then stores `pushed` with release; the consumer loads `pushed` with acquire, so it sees the whole
/// element. The consumer moves the element out and is done with what lies beside it, then stores `released` with release; the
/// producer loads `released` with acquire before it writes that slot again. Each end reads its own position relaxed, because
/// nobody else writes it.
@safe
public final class SingleProducerRing<Element: Sendable>: Sendable {
    /// Elements that fit; a power of two.
    public let capacity: Int
    /// Each slot belongs to one end at a time, as the positions say.
    @usableFromInline nonisolated(unsafe) let slots: UnsafeMutablePointer<Element>
    /// Written by the producer: one beyond the last element.
    @usableFromInline let pushed = Atomic<Int>(0)
    /// Written by the consumer: the first slot that it still needs.
    @usableFromInline let released = Atomic<Int>(0)
    /// The consumer's own note: how far it has taken elements out. Atomic only because the class is shared.
    @usableFromInline let taken = Atomic<Int>(0)

    /// - Parameter capacity: a power of two.
    public init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two, so that a mask finds the slot")
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
    }

    deinit {
        for position in taken.load(ordering: .acquiring)..<pushed.load(ordering: .acquiring) {
            unsafe (slots + slot(position)).deinitialize(count: 1)
        }
        unsafe slots.deallocate()
    }

    // MARK: - The producer's end

    /// Adds an element at the end. The producer only.
    /// - Parameter make: given the element's slot, 0 to `capacity` − 1, whose neighbours in other tables are the producer's too
    ///   until this returns. Not called when the ring is full.
    /// - Returns: false when the ring is full.
    @inlinable
    @discardableResult
    public func push(_ make: (_ slot: Int) -> Element) -> Bool {
        let position = pushed.load(ordering: .relaxed)
        guard position - released.load(ordering: .acquiring) < capacity else { return false }
        let slot = slot(position)
        unsafe (slots + slot).initialize(to: make(slot))
        pushed.store(position + 1, ordering: .releasing)
        return true
    }

    /// The slot of the oldest element that the consumer has not released; nil when there is none. The producer only.
    @inlinable
    public var oldestHeldSlot: Int? {
        let position = released.load(ordering: .acquiring)
        return position < pushed.load(ordering: .relaxed) ? slot(position) : nil
    }

    // MARK: - The consumer's end

    /// Takes out what is there now, in order. The consumer only.
    ///
    /// The slots stay the consumer's until `release()`, which `body` may call as well.
    @inlinable
    public func drain(_ body: (_ slot: Int, _ element: Element) -> Void) {
        let end = pushed.load(ordering: .acquiring)
        while case let position = taken.load(ordering: .relaxed), position < end {
            let slot = slot(position)
            let element = unsafe (slots + slot).move()
            taken.store(position + 1, ordering: .relaxed)
            body(slot, element)
        }
    }

    /// Gives the slots of all elements taken out back to the producer. The consumer only.
    @inlinable
    public func release() { released.store(taken.load(ordering: .relaxed), ordering: .releasing) }

    @inlinable
    func slot(_ position: Int) -> Int { position & (capacity - 1) }
}
