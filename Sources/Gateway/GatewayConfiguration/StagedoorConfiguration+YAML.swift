public import Settings

/// The file's text, made from the table.
extension StagedoorConfiguration {
    /// The annotated sample file: every key with its meaning, type, range, unit and default.
    public static var sampleFile: String {
        """
        # Stagedoor's configuration: every key with its default. Leave out what you do not change.
        #
        # A variable overrides a key: rtmp.maximumConnections is STAGEDOOR_RTMP_MAXIMUM_CONNECTIONS. Lists are comma-separated there.
        # Times are written 250ms, 5s, 30m, 24h, 14d; sizes 1500B, 64KiB, 8MiB, 1GiB.
        # `stagedoor check --config FILE` reads a file, says what is wrong, and prints what is in force. A SIGHUP, or a change of the
        # file, applies every key not marked (restart).
        # Made from Sources/Gateway/GatewayConfiguration; the tests say when it is not.


        """ + ConfigurationTable.sections.map { StagedoorConfiguration().text(of: $0, isSample: true) }.joined(separator: "\n")
    }

    /// What is in force, as a file that could be read again but for its secrets.
    public var effectiveFile: String { ConfigurationTable.sections.map { text(of: $0, isSample: false) }.joined() }

    private func text(of section: ConfigurationTable.Section, isSample: Bool) -> String {
        var lines = isSample ? Self.comment(section.summary, indentation: 0) : []
        switch section.item {
        case .keys(let keys):
            if keys.first?.path != section.name { lines.append("\(section.name):") }
            lines += self.lines(keys, isSample: isSample)
        case .map(let map): lines += self.lines(map, isSample: isSample)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func lines(_ map: ConfigurationMap, isSample: Bool) -> [String] {
        let names = map.names(self)
        var lines = names.isEmpty ? ["\(map.path): {}"] : ["\(map.path):"]
        for name in names {
            lines.append("  \(YAMLText.scalar(name)):")
            lines += self.lines(map.keys(name), isSample: isSample && name == names.first)
        }
        guard isSample, names.isEmpty else { return lines }
        let example = ["\(map.path):", "  \(map.exampleName):"] + self.lines(map.keys(map.exampleName), isSample: true)
        return lines + example.map { "# \($0)" }
    }

    /// The lines of keys that stand under one name, with the third level opened where it begins.
    private func lines(_ keys: [ConfigurationTable.Key], isSample: Bool) -> [String] {
        var lines: [String] = []
        var group: Substring = ""
        for key in keys {
            let parts = key.path.split(separator: ".")
            if parts.count == 3, parts[1] != group, !isMapEntry(parts[0]) {
                group = parts[1]
                lines.append("  \(group):")
            }
            let indentation = 2 * (parts.count - 1)
            if isSample { lines += Self.comment(Self.annotation(key), indentation: indentation) }
            lines.append(String(repeating: " ", count: indentation) + "\(parts[parts.count - 1]): \(key.yaml(self))")
        }
        return lines
    }

    private func isMapEntry(_ section: Substring) -> Bool { ConfigurationTable.maps.contains { $0.path == section } }

    private static func annotation(_ key: ConfigurationTable.Key) -> String {
        let notes = [key.hint, key.reload == .restart ? "restart" : nil].compactMap { $0 }
        return notes.isEmpty ? key.summary : "\(key.summary) (\(notes.joined(separator: "; ")))"
    }

    /// Comment lines of at most 120 columns.
    private static func comment(_ text: String, indentation: Int) -> [String] {
        let start = String(repeating: " ", count: indentation) + "#"
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < 120 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append("\(start) \(word)")
            }
        }
        return lines
    }
}
