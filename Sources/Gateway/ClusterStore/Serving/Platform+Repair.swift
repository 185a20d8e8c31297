import Redis
import Store

/// The lists of records are only there to find them, and can be made anew from the records.
extension Platform {
    /// Compares the lists with a walk over all keys of the database, and mends them.
    ///
    /// A record that is made meanwhile may be taken for missing, which changes nothing. One that is listed and not yet made is
    /// looked at again before its entry goes.
    /// - Returns: how many entries were missing or led nowhere.
    func repairIndexes() throws(StoreError) -> Int {
        var missing: Set<KeySchema.Listing> = []
        for key in try loader.server.walk(matching: "\(loader.schema.prefix){*") {
            if let listing = loader.schema.listing(ofKey: key) { missing.insert(listing) }
        }
        var dangling: [KeySchema.Listing] = []
        for index in KeySchema.Index.allCases {
            for listing in try loader.listings(of: index) {
                if missing.remove(listing) == nil, try !exists(listing) { dangling.append(listing) }
            }
        }
        try loader.server.list(Array(missing), "SADD", schema: loader.schema)
        try loader.server.list(dangling, "SREM", schema: loader.schema)
        return missing.count + dangling.count
    }

    private func exists(_ listing: KeySchema.Listing) throws(StoreError) -> Bool {
        let key = loader.schema.record(listing)
        return try loader.server.ask(RedisCommand("EXISTS", RedisArgument(key)), key: key).integer == 1
    }
}

extension PlatformServing {
    /// Adds to or takes from the lists of records.
    func list(_ listings: [KeySchema.Listing], _ name: RedisArgument, schema: KeySchema) throws(StoreError) {
        _ = try ask(
            listings.map { listing in
                let key = schema.index(listing.index)
                return .command(RedisCommand(name, RedisArgument(key), RedisArgument(listing.member)), key: key)
            })
    }

    /// Every key that matches, of all primaries.
    fileprivate func walk(matching pattern: String) throws(StoreError) -> Set<String> {
        var keys: Set<String> = []
        for place in try places() {
            var cursor = "0"
            repeat {
                let command = RedisCommand("SCAN", RedisArgument(cursor), "MATCH", RedisArgument(pattern), "COUNT", "1000")
                guard let page = try ask(command, key: place).elements, page.count == 2, let next = page[0].text else {
                    throw .failed(reason: "SCAN answered something else")
                }
                keys.formUnion(page[1].elements?.compactMap(\.text) ?? [])
                cursor = next
            } while cursor != "0"
        }
        return keys
    }

    /// One key for each primary: so many keys fall on every node of a cluster, down to a hundredth of its slots.
    private func places() throws(StoreError) -> [String] {
        let candidates = (0..<2_000).map { "place\($0)" }
        let owners: [RedisValue]
        do {
            owners = try ask(candidates.map { .command(RedisCommand("CLUSTER", "MYID"), key: $0) })
        } catch .failed {
            return [candidates[0]]  // no cluster: there is one primary
        }
        var places: [String: String] = [:]
        for (key, owner) in zip(candidates, owners) { if let owner = owner.text { places[owner] = key } }
        return Array(places.values)
    }
}
