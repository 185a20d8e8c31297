public import Settings

/// What a reload changes: what can be applied while running, and what waits for a restart.
public struct ConfigurationChanges: Equatable, Sendable {
    /// Keys that take effect at once; an added or removed entry of a map stands as `routers.a`.
    public var live: [String] = []
    public var restart: [String] = []

    public var isEmpty: Bool { live.isEmpty && restart.isEmpty }

    public init(from old: StagedoorConfiguration, to new: StagedoorConfiguration) {
        for key in ConfigurationTable.keys where key.differs(old, new) { note(key.path, key.reload) }
        for map in ConfigurationTable.maps {
            let (before, after) = (Set(map.names(old)), Set(map.names(new)))
            for name in before.symmetricDifference(after).sorted() { note("\(map.path).\(name)", map.reload) }
            for name in before.intersection(after).sorted() {
                for key in map.keys(name) where key.differs(old, new) { note(key.path, key.reload) }
            }
        }
    }

    private mutating func note(_ path: String, _ reload: Reload) {
        switch reload {
        case .live: live.append(path)
        case .restart: restart.append(path)
        }
    }
}

extension StagedoorConfiguration {
    /// This configuration as far as it can be applied while running: what needs a restart stays as in `running`.
    public func applied(to running: StagedoorConfiguration) -> StagedoorConfiguration {
        var applied = self
        for key in ConfigurationTable.keys where key.reload == .restart { key.copy(running, &applied) }
        for map in ConfigurationTable.maps where map.reload == .restart { map.copy(running, &applied) }
        return applied
    }
}
