/// The lines of INFO that concern us: `name:value`, in sections headed by `#`.
struct ServerInformation {
    private var fields: [Substring: Substring] = [:]

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    /// Changes at every start of the server's process.
    var runID: String? { self["run_id"] }
    var replicationID: String? { self["master_replid"] }
    /// Valkey says 7.2.4 in redis_version, for the sake of clients that look, and its own version beside it.
    var version: String? { self["valkey_version"] ?? self["redis_version"] }
    /// Nil for a sentinel, which has no data.
    var isPrimary: Bool? { self["role"].map { $0 == "master" } }
    var isLoading: Bool { self["loading"] == "1" }
    var replicaCount: Int { self["connected_slaves"].flatMap { Int($0) } ?? 0 }

    private subscript(name: Substring) -> String? { fields[name].map { String($0) } }
}
