import Settings
import Testing

@testable import GatewayConfiguration

@Suite("Table of keys")
struct ConfigurationTableTests {
    /// Values of every kind of setting: of those that a key takes one differs from its default.
    private static let samples = [
        "7", "17", "true", "false", "2ms", "4s", "20s", "61s", "65s", "1d", "128KiB", "200MiB", "127.0.0.1:1", "1.3", "warn",
        "off",
        "main", "none",
        "deny", "allow", "janus", "sentinel", "admit", "debug", "json", "6000-6003", "10.0.0.0/8", "200000", "30000", "redis:1",
        "word", "lenient", "aac",
    ]

    /// Every value below, under the names of the properties that lead to it.
    private func leaves(_ value: Any, _ path: [String] = []) -> [String: String] {
        let mirror = Mirror(reflecting: value)
        let named = mirror.children.compactMap { child in child.label.map { ($0, child.value) } }
        guard !named.isEmpty, mirror.displayStyle == .struct else { return [path.joined(separator: "."): "\(value)"] }
        return named.reduce(into: [:]) { all, child in all.merge(leaves(child.1, path + [child.0])) { $1 } }
    }

    private func changedBy(_ key: ConfigurationTable.Key) -> [String] {
        let defaults = StagedoorConfiguration()
        for sample in Self.samples {
            var changed = defaults
            guard (try? key.set(&changed, .scalar(sample))) != nil, key.differs(defaults, changed) else { continue }
            let (before, after) = (leaves(defaults), leaves(changed))
            return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
        }
        return []
    }

    @Test func `a key of the file has the name of the property that it sets`() {
        // Secrets show nothing of themselves.
        for key in ConfigurationTable.keys where !key.isSecret {
            let changed = changedBy(key)
            #expect(
                !changed.isEmpty && changed.allSatisfy { $0 == key.path || $0.hasPrefix(key.path + ".") },
                "\(key.path): \(changed)")
        }
    }
}
