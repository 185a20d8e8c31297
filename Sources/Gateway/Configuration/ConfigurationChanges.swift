/// What a reload changes: what can be applied while running, and what waits for a restart.
public struct ConfigurationChanges: Equatable, Sendable {
    /// Keys that take effect at once; an added or removed entry of a map stands as `routers.a`.
    public var live: [String] = []
    public var restart: [String] = []

    public var isEmpty: Bool { live.isEmpty && restart.isEmpty }

    public init(from old: StagedoorConfiguration, to new: StagedoorConfiguration) {
        for key in ConfigurationTable.keys where key.differs(old, new) { note(key) }
        for map in ConfigurationTable.maps {
            let (before, after) = (Set(map.names(old)), Set(map.names(new)))
            live += before.symmetricDifference(after).sorted().map { "\(map.path).\($0)" }
            for name in before.intersection(after).sorted() {
                for key in map.keys(name) where key.differs(old, new) { note(key) }
            }
        }
    }

    private mutating func note(_ key: ConfigurationTable.Key) {
        switch key.reload {
        case .live: live.append(key.path)
        case .restart: restart.append(key.path)
        }
    }
}

extension StagedoorConfiguration {
    /// This configuration as far as it can be applied while running: what needs a restart stays as in `running`.
    public func applied(to running: StagedoorConfiguration) -> StagedoorConfiguration {
        var applied = self
        for key in ConfigurationTable.keys where key.reload == .restart { key.copy(running, &applied) }
        return applied
    }
}
