import EventLoop

/// Who is told of each new state of the configuration. For any thread.
public final class StateObservers: Sendable {
    private let observers = Lock<[@Sendable (StoreState) -> Void]>([])

    public init() {}

    /// - Parameter observer: called on the store's thread, once the state is visible; it must not wait.
    public func add(_ observer: @escaping @Sendable (StoreState) -> Void) { observers.withLock { $0.append(observer) } }

    public func tell(_ state: StoreState) {
        for observer in observers.withLock({ $0 }) { observer(state) }
    }
}
