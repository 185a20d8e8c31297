import Yams

/// The paths that a file sets, found by a second look with Yams: swift-configuration answers questions but cannot list keys.
struct FileOutline {
    /// Dotted paths of scalars, lists and empty mappings.
    private(set) var leaves: [String] = []

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
