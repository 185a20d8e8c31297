import Configuration

/// The file and the environment as swift-configuration reads them; the environment wins.
struct SettingSources {
    private let file: YAMLSnapshot?
    private let environment: EnvironmentVariablesProvider

    /// - Throws: when the text is no YAML mapping of scalars, lists of scalars and mappings.
    init(yaml: String?, environment: [String: String]) throws {
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
        if let text = string(try? file?.value(forKey: key, type: .string)) { return .scalar(text) }
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
