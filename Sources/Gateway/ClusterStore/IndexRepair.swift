public import Store

/// Repairs the lists by which the records of a cluster are found, should somebody have damaged them. Gateways may run
/// meanwhile.
public struct IndexRepair: Sendable {
    private let settings: RedisStoreSettings

    public init(_ settings: RedisStoreSettings) { self.settings = settings }

    /// Looks at all keys of the database, for ten minutes at most. Interrupted, it is simply run again.
    ///
    /// - Returns: how many records were not listed.
    /// - Throws: `.cannotOpen` when the database does not answer, takes too long, belongs to another platform key or has lost its
    ///   data: an empty one is left as it is.
    public func run() throws(StoreError) -> Int {
        try DatabaseOpening(settings, process: "repair").use(makesPlatform: false) { database throws(StoreError) in
            try database.repairIndexes()
        }
    }
}
