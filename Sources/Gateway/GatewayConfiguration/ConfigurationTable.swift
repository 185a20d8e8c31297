import Settings

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

    static let sections: [Section] =
        listeners + addresses + [contract] + routing + platform + [storage, recording, cluster] + operation

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

/// When a changed value takes effect.
enum Reload: Sendable {
    /// At SIGHUP or when the file changes.
    case live
    case restart
}

/// One key of the file: the only place that says what it is called, takes and means. Its default stands in the section's type.
struct ConfigurationKey<Root: Sendable>: Sendable {
    /// `rtmp.listen`; inside a map's entry the last part alone.
    var path: String
    /// What it does, in a sentence or two.
    let summary: String
    /// `1s to 60s`; nil when the type says all.
    let range: String?
    /// What one of it counts: `bit/s`; nil when the type says it.
    let unit: String?
    let expectation: String
    /// `one of disconnect, warn, off`; nil when the default says all.
    let hint: String?
    var reload: Reload
    let isSecret: Bool
    let set: @Sendable (inout Root, RawSetting) throws(ValueError) -> Void
    let yaml: @Sendable (Root) -> String
    let differs: @Sendable (Root, Root) -> Bool
    /// Copies the value from the first to the second.
    let copy: @Sendable (Root, inout Root) -> Void

    init<Value: ConfigurationValue>(
        _ path: String, _ value: any SettingPath<Root, Value>, _ reload: Reload, unit: String? = nil, _ summary: String
    ) {
        self.init(path, value, reload, unit: unit, range: nil, summary) { _ in true }
    }

    init<Value: ScalarValue & Comparable>(
        _ path: String, _ value: any SettingPath<Root, Value>, _ reload: Reload, in range: ClosedRange<Value>,
        unit: String? = nil, _ summary: String
    ) {
        let text = "\(range.lowerBound.text) to \(range.upperBound.text)"
        self.init(path, value, reload, unit: unit, range: text, summary) { range.contains($0) }
    }

    private init<Value: ConfigurationValue>(
        _ path: String, _ value: any SettingPath<Root, Value>, _ reload: Reload, unit: String?, range: String?,
        _ summary: String, isAllowed: @escaping @Sendable (Value) -> Bool
    ) {
        (self.path, self.reload, self.unit, self.range, self.summary) = (path, reload, unit, range, summary)
        expectation = Value.expectation + (range.map { " from \($0)" } ?? "")
        hint = range.map { unit == nil ? $0 : "\($0) \(unit ?? "")" } ?? Value.hint
        isSecret = Value.isSecret
        yaml = { $0[keyPath: value].yaml }
        differs = { $0[keyPath: value] != $1[keyPath: value] }
        copy = { $1[keyPath: value] = $0[keyPath: value] }
        let expectation = expectation
        set = { (root: inout Root, raw: RawSetting) throws(ValueError) in
            guard let new = try? Value(raw: raw), isAllowed(new) else { throw ValueError(expected: expectation) }
            root[keyPath: value] = new
        }
    }
}

extension ConfigurationKey {
    /// The key of a section's type, or of a map's entry, as a key of the whole.
    private init<Part: Sendable>(
        _ key: ConfigurationKey<Part>, at path: String, get: @escaping @Sendable (Root) -> Part,
        update: @escaping @Sendable (inout Root, Part) -> Void
    ) {
        (self.path, summary, range, unit, expectation) = (
            "\(path).\(key.path)", key.summary, key.range, key.unit, key.expectation
        )
        (hint, reload, isSecret) = (key.hint, key.reload, key.isSecret)
        set = { (root: inout Root, raw: RawSetting) throws(ValueError) in
            var part = get(root)
            try key.set(&part, raw)
            update(&root, part)
        }
        yaml = { key.yaml(get($0)) }
        differs = { key.differs(get($0), get($1)) }
        copy = { from, to in
            var part = get(to)
            key.copy(get(from), &part)
            update(&to, part)
        }
    }

    init<Section: Sendable>(_ key: ConfigurationKey<Section>, in section: any SettingPath<Root, Section>, at path: String) {
        self.init(key, at: path) {
            $0[keyPath: section]
        } update: {
            $0[keyPath: section] = $1
        }
    }

    init<Entry: MapEntry>(
        _ key: ConfigurationKey<Entry>, of name: String, in map: any SettingPath<Root, [String: Entry]>, at path: String
    ) {
        self.init(key, at: "\(path).\(name)") {
            $0[keyPath: map][name] ?? Entry()
        } update: {
            $0[keyPath: map][name] = $1
        }
    }
}

/// The way from a configuration to one of its values.
typealias SettingPath<Root, Value> = WritableKeyPath<Root, Value> & Sendable

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
