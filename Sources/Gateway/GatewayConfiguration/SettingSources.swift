import Configuration
import Yams

/// The file and the environment as swift-configuration reads them; the environment wins.
struct SettingSources {
    private let file: YAMLSnapshot?
    private let nulls: Set<String>
    private let environment: EnvironmentVariablesProvider

    /// - Parameter nulls: the paths at which the text has YAML's null.
    /// - Throws: when the text is no YAML mapping of scalars, lists of scalars and mappings.
    init(yaml: String?, nulls: Set<String> = [], environment: [String: String]) throws {
        self.nulls = nulls
        let isEmpty =
            yaml?.split(separator: "\n").allSatisfy { $0.trimmingSpaces().isEmpty || $0.trimmingSpaces().hasPrefix("#") } ?? true
        file =
            isEmpty
            ? nil : try YAMLSnapshot(data: Array((yaml ?? "").utf8).span.bytes, providerName: "file", parsingOptions: .default)
        self.environment = EnvironmentVariablesProvider(environmentVariables: environment)
    }

    /// What was set at `path`, nil when nothing was.
    func setting(at path: String) -> RawSetting? {
        let components = path.split(separator: ".").map(String.init)
        if let text = string(try? environment.value(forKey: AbsoluteConfigKey(["stagedoor"] + components), type: .string)) {
            return .scalar(text)
        }
        let key = AbsoluteConfigKey(components)
        // swift-configuration gives null as the word; a token would then be `null`, and a recording's folder `~`.
        if let text = string(try? file?.value(forKey: key, type: .string)) { return .scalar(nulls.contains(path) ? "" : text) }
        guard case .stringArray(let texts) = (try? file?.value(forKey: key, type: .stringArray))?.value?.content else {
            return nil
        }
        return .list(texts)
    }

    private func string(_ result: LookupResult?) -> String? {
        guard case .string(let text) = result?.value?.content else { return nil }
        return text
    }
}

/// The paths that a file sets, found by a second look with Yams: swift-configuration answers questions but cannot list keys.
struct FileOutline {
    /// Dotted paths of scalars, lists and empty mappings.
    private(set) var leaves: [String] = []
    /// Those at which a scalar or a list is written.
    private(set) var values: [String] = []
    /// Those at which nothing, `~` or `null` is written.
    private(set) var nulls: Set<String> = []

    /// Deeper mappings than any key of ours are not walked.
    private static let maximumDepth = 4

    init(yaml: String?) throws {
        guard let root = try yaml.flatMap({ try Yams.Parser(yaml: $0).singleRoot() }), let mapping = root.mapping else { return }
        walk(mapping, under: "", depth: 1)
    }

    private mutating func walk(_ mapping: Node.Mapping, under prefix: String, depth: Int) {
        for (key, value) in mapping {
            let path = prefix + (key.string ?? "?")
            if let inner = value.mapping, !inner.isEmpty, depth < Self.maximumDepth {
                walk(inner, under: path + ".", depth: depth + 1)
            } else {
                leaves.append(path)
                if value.null != nil {
                    nulls.insert(path)
                } else if value.mapping == nil {
                    values.append(path)
                }
            }
        }
    }

    /// The names of the entries of the map at `path`; nil when the file does not have it.
    func entryNames(of path: String) -> Set<String>? {
        let inside = leaves.filter { $0 == path || $0.hasPrefix(path + ".") }
        guard !inside.isEmpty else { return nil }
        return Set(inside.compactMap { $0.dropFirst(path.count + 1).split(separator: ".").first.map(String.init) })
    }
}

extension FileOutline {
    /// What is wrong with a text that cannot be read, and where. The line itself is not shown, as Yams would: what makes one no
    /// YAML is most often a secret without quotes.
    static func words(for error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _)?, .parser(let context, let problem, let mark, _)?,
            .composer(let context, let problem, let mark, _)?:
            "line \(mark.line), column \(mark.column): \(context.map { "\($0.text): " } ?? "")\(problem)"
        case .reader(let problem, let offset, _, _)?: "\(problem)\(offset.map { " at character \($0 + 1)" } ?? "")"
        // Its context is the whole file.
        case .duplicatedKeysInMapping(let keys, let context)?:
            "line \(context.mark.line), column \(context.mark.column): \(keys.joined(separator: ", ")) is written twice"
        default: String(describing: error)
        }
    }
}

/// The variable that overrides a key: `rtmp.maximumConnections` is STAGEDOOR_RTMP_MAXIMUM_CONNECTIONS.
enum EnvironmentName {
    static let prefix = "STAGEDOOR_"

    static func variable(for path: String) -> String { prefix + path.split(separator: ".").map(words).joined(separator: "_") }

    /// `maximumConnections` → `MAXIMUM_CONNECTIONS`, cut where a lower-case letter meets an upper-case one.
    static func words(_ component: some StringProtocol) -> String {
        var words = ""
        var previous: Character?
        for character in component {
            if let previous, previous.isLowercase, character.isUppercase { words.append("_") }
            words.append(character.isLetter || character.isNumber ? character : "_")
            previous = character
        }
        return words.uppercased()
    }
}
