/// Every key, in the order of the file. The sample file, its documentation, the reader and the redacted print are made from it.
enum ConfigurationTable {
    typealias Key = ConfigurationKey<StagedoorConfiguration>

    /// What stands at one place of the file.
    enum Item: Sendable {
        /// The keys of one section, or a single key at the top.
        case keys([Key])
        case map(ConfigurationMap)
    }

    struct Section: Sendable {
        let name: String
        let summary: String
        let item: Item

        init(_ name: String, _ summary: String, _ keys: [Key]) { (self.name, self.summary, item) = (name, summary, .keys(keys)) }
        init(_ map: ConfigurationMap) { (name, summary, item) = (map.path, map.summary, .map(map)) }
    }

    static let sections: [Section] = listeners + addresses + [contract] + routing + platform + [cluster] + operation

    static let keys: [Key] = sections.flatMap { section -> [Key] in
        if case .keys(let keys) = section.item { keys } else { [] }
    }

    static let maps: [ConfigurationMap] = sections.compactMap { section in
        if case .map(let map) = section.item { map } else { nil }
    }

    /// All keys of `configuration`: the fixed ones and those of the entries its maps have.
    static func keys(of configuration: StagedoorConfiguration) -> [Key] {
        keys + maps.flatMap { map in map.names(configuration).flatMap { map.keys($0) } }
    }
}
