import Glibc
public import Settings

/// Reads, checks and completes a configuration before the first socket opens.
public enum ConfigurationLoader {
    /// The configuration that a file's text and the environment make of the defaults.
    /// - Parameters:
    ///   - yaml: the file's text; nil for none.
    ///   - environment: all variables of the process; those that begin with STAGEDOOR_ must be known.
    ///   - otherVariables: STAGEDOOR_ variables that belong to somebody else.
    /// - Throws: `ConfigurationError` with everything that is wrong.
    public static func load(
        yaml: String?, environment: [String: String] = [:], otherVariables: Set<String> = ["STAGEDOOR_ONLY"]
    ) throws(ConfigurationError) -> StagedoorConfiguration {
        let ours = environment.filter { $0.key.hasPrefix(EnvironmentName.prefix) && !otherVariables.contains($0.key) }
        let outline: FileOutline
        let sources: SettingSources
        do {
            outline = try FileOutline(yaml: yaml)
            sources = try SettingSources(yaml: yaml, nulls: outline.nulls, environment: ours)
        } catch {
            throw ConfigurationError(problems: [.init(key: "file", message: FileOutline.words(for: error))])
        }
        return try load(outline, sources, variables: Set(ours.keys))
    }

    /// Reads the file at `path`, then as `load(yaml:environment:)`.
    public static func load(path: String, environment: [String: String]) throws(ConfigurationError) -> StagedoorConfiguration {
        guard let file = fopen(path, "re") else { throw unreadable(path, errno) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maximumFileLength + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        // A folder is opened like a file, and a disk may fail later: what came until then is not what was written.
        guard ferror(file) == 0 else { throw unreadable(path, errno) }
        guard count <= maximumFileLength, let yaml = String(validating: bytes[..<count], as: UTF8.self) else {
            throw ConfigurationError(problems: [.init(key: path, message: "is longer than 1 MiB, or not UTF-8")])
        }
        return try load(yaml: yaml, environment: environment)
    }

    private static func unreadable(_ path: String, _ code: Int32) -> ConfigurationError {
        ConfigurationError(problems: [.init(key: path, message: String(cString: strerror(code)))])
    }

    /// A thousand routers and webhooks fit into half of it.
    private static let maximumFileLength = 1 << 20

    private static func load(
        _ outline: FileOutline, _ sources: SettingSources, variables: Set<String>
    ) throws(ConfigurationError) -> StagedoorConfiguration {
        var configuration = StagedoorConfiguration()
        for map in ConfigurationTable.maps { addEntries(of: map, outline, variables, to: &configuration) }
        let keys = ConfigurationTable.keys(of: configuration)
        var problems = misplacedValues(in: outline) + unknownKeys(in: outline, known: keys)
        problems += unknownVariables(variables, known: keys)
        for key in keys {
            guard let raw = sources.setting(at: key.path) else { continue }
            do {
                try key.set(&configuration, raw)
            } catch {
                problems.append(
                    .init(key: key.path, message: "\(shown(raw, key.isSecret)) is not taken: expected \(error.expected)"))
            }
        }
        if problems.isEmpty { problems = configuration.problems }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return configuration
    }

    /// A file's map replaces the default entries; variables may add entries, whose names are then in lower case.
    private static func addEntries(
        of map: ConfigurationMap, _ outline: FileOutline, _ variables: Set<String>, to configuration: inout StagedoorConfiguration
    ) {
        if let names = outline.entryNames(of: map.path) {
            map.clear(&configuration)
            for name in names { map.add(&configuration, name) }
        }
        let start = EnvironmentName.variable(for: map.path) + "_"
        let known = Set(map.names(configuration).map(EnvironmentName.words))
        let endings = map.entryKeyPaths.map { "_" + EnvironmentName.words($0) }.sorted { $0.count > $1.count }
        for variable in variables where variable.hasPrefix(start) {
            guard let ending = endings.first(where: { variable.dropFirst(start.count).hasSuffix($0) }) else { continue }
            let name = variable.dropFirst(start.count).dropLast(ending.count)
            if !name.isEmpty, !known.contains(String(name)) { map.add(&configuration, name.lowercased()) }
        }
    }

    private static func shown(_ raw: RawSetting, _ isSecret: Bool) -> String {
        if isSecret { return "the value" }
        switch raw {
        case .scalar(let text): return "\"\(text.prefix(80))\""
        case .list(let texts): return "[\(texts.joined(separator: ", ").prefix(80))]"
        }
    }

    /// A value in place of a map, or of one of its entries, would set nothing. It is not shown: it may be a secret.
    private static func misplacedValues(in outline: FileOutline) -> [ConfigurationError.Problem] {
        outline.values.compactMap { path in
            let parts = path.split(separator: ".")
            guard let section = parts.first, parts.count <= 2 else { return nil }
            guard let map = ConfigurationTable.maps.first(where: { $0.path == section }) else { return nil }
            let entry = "{\(map.entryKeyPaths[0]): …}"
            let expected = parts.count == 1 ? "{\(map.exampleName): \(entry)}" : entry
            return ConfigurationError.Problem(key: path, message: "is not taken: expected a mapping such as \(expected)")
        }
    }

    private static func unknownKeys(
        in outline: FileOutline, known keys: [ConfigurationTable.Key]
    ) -> [ConfigurationError.Problem] {
        let known = Set(keys.map(\.path)).union(ConfigurationTable.maps.map(\.path))
        let unknown = outline.leaves.filter { leaf in
            // `http:` with all of its keys commented out sets nothing.
            let isEmptySection = !outline.values.contains(leaf) && known.contains { $0.hasPrefix(leaf + ".") }
            return !known.contains(leaf) && !isEmptyEntry(leaf) && !isEmptySection
        }
        return unknown.map { leaf in
            .init(key: leaf, message: "unknown key" + suggestion(Suggestion.nearest(to: leaf, among: known)))
        }
    }

    /// `routers: {a: {}}` sets no key but makes an entry.
    private static func isEmptyEntry(_ leaf: String) -> Bool {
        let parts = leaf.split(separator: ".")
        return parts.count == 2 && ConfigurationTable.maps.contains { $0.path == parts[0] }
    }

    private static func unknownVariables(
        _ variables: Set<String>, known keys: [ConfigurationTable.Key]
    ) -> [ConfigurationError.Problem] {
        let known = Set(keys.map { EnvironmentName.variable(for: $0.path) })
        return variables.subtracting(known).sorted().map { variable in
            .init(key: variable, message: "unknown variable" + suggestion(Suggestion.nearest(to: variable, among: known)))
        }
    }

    private static func suggestion(_ nearest: String?) -> String { nearest.map { "; did you mean \($0)?" } ?? "" }
}

/// Everything that is wrong with a configuration, at once.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    public struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The key, or the variable.
        public var key: String
        public var message: String

        public var description: String { "\(key): \(message)" }
    }

    public var problems: [Problem]

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Finding what somebody meant to write.
enum Suggestion {
    /// The candidate that begins with `word`, or the nearest one if it is near enough that a slip of the finger explains it.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let candidates = candidates.sorted()
        if let longer = candidates.first(where: { $0.hasPrefix(word + ".") }) { return longer }
        let lowered = Array(word.lowercased().utf8)
        let best = candidates.map { ($0, distance(lowered, Array($0.lowercased().utf8))) }.min { $0.1 < $1.1 }
        guard let (candidate, distance) = best, distance <= max(2, word.utf8.count / 3) else { return nil }
        return candidate
    }

    /// Letters to replace, add, leave out, or exchange with their neighbour (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [[Int]](repeating: Array(0...right.count), count: left.count + 1)
        for i in left.indices {
            rows[i + 1][0] = i + 1
            for j in right.indices {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                rows[i + 1][j + 1] = min(replaced, rows[i][j + 1] + 1, rows[i + 1][j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    rows[i + 1][j + 1] = min(rows[i + 1][j + 1], rows[i - 1][j - 1] + 1)
                }
            }
        }
        return rows[left.count][right.count]
    }
}
