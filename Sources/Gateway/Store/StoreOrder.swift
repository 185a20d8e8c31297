/// What the store's thread is told about its files, which one process at a time has.
enum StoreOrder: Sendable {
    /// Close both files once all that waits is written; jobs wait from then on.
    case suspend(done: @Sendable () -> Void)
    /// Open them again, as another process has left them.
    case resume(
        sparing: Set<LivingParticipant>, reply: @Sendable (Result<EmbeddedStore.Recovered, StoreError>) -> Void)
}
