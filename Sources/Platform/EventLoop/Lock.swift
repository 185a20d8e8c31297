public import Glibc

/// A value behind a pthread mutex, for the few places where threads meet: mailboxes and the session directory.
///
/// `Synchronization.Mutex` would do, but thread sanitizer cannot see inside it and reports races
/// that are none; it knows pthreads.
@safe
public final class Lock<Value>: @unchecked Sendable {
    // Sendable: `value` is touched only in `withLock`, between lock and unlock of a mutex that never moves in memory; it
    // enters as `sending`, so nobody else holds what is inside it, and leaves only as a `sending` result.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    /// The value belongs to the lock from here on.
    public init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` alone. Keep it short, and never call out of it: whoever waits is an event loop.
    ///
    /// Inlinable: to call `body` with a value of an unknown type costs more than the mutex.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
