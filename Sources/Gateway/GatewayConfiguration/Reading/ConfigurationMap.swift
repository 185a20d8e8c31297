/// What a named map holds under each name.
protocol MapEntry: Sendable {
    init()
    static var keys: [ConfigurationKey<Self>] { get }
}

/// A named map of the file, `routers: {a: {…}}`. A file that has the map replaces its default entries.
struct ConfigurationMap: Sendable {
    let path: String
    let summary: String
    /// A name and values for the commented example in the sample file.
    let exampleName: String
    let entryKeyPaths: [String]
    /// When an added or removed entry takes effect: when all of its keys do.
    let reload: Reload
    let keys: @Sendable (_ name: String) -> [ConfigurationKey<StagedoorConfiguration>]
    let names: @Sendable (StagedoorConfiguration) -> [String]
    let clear: @Sendable (inout StagedoorConfiguration) -> Void
    let add: @Sendable (inout StagedoorConfiguration, _ name: String) -> Void
    /// Copies all entries from the first to the second.
    let copy: @Sendable (StagedoorConfiguration, inout StagedoorConfiguration) -> Void

    init<Entry: MapEntry>(
        _ path: String, _ map: any SettingPath<StagedoorConfiguration, [String: Entry]>, example: String, _ summary: String
    ) {
        (self.path, self.summary, exampleName) = (path, summary, example)
        entryKeyPaths = Entry.keys.map(\.path)
        reload = Entry.keys.contains { $0.reload == .restart } ? .restart : .live
        keys = { name in Entry.keys.map { ConfigurationKey($0, of: name, in: map, at: path) } }
        names = { $0[keyPath: map].keys.sorted() }
        clear = { $0[keyPath: map] = [:] }
        add = { $0[keyPath: map][$1, default: Entry()] = $0[keyPath: map][$1] ?? Entry() }
        copy = { $1[keyPath: map] = $0[keyPath: map] }
    }
}
