import Wire

/// What is said on a new connection before anything else, and how the answers are judged. One round trip.
struct Greeting {
    let settings: RedisSettings
    var role = ServerRole.primary

    var commands: [RedisCommand] {
        var commands: [RedisCommand] = []
        if let credential = settings.credential { commands.append(credential.command) }
        commands.append(RedisCommand("CLIENT", "SETNAME", RedisArgument(settings.clientName)))
        if settings.database != 0, role == .primary { commands.append(RedisCommand("SELECT", RedisArgument(settings.database))) }
        commands.append(RedisCommand("INFO"))
        return commands
    }

    /// The server behind the answers, when it is one that may be used.
    func judge(_ replies: [RedisReply], from address: SocketAddress) -> Result<RedisServerIdentity, RedisFault> {
        for reply in replies {
            guard case .failure(let error) = reply else { continue }
            if case .refused(let refusal) = error { return .failure(.refused(address, refusal)) }
            return .failure(.greetingFailed(address))
        }
        let information = ServerInformation((try? replies.last?.get().text) ?? "")
        guard let runID = information.runID else { return .failure(.greetingFailed(address)) }
        if information.isLoading { return .failure(.loading(address)) }
        if role == .primary, information.isPrimary != true { return .failure(.notPrimary(address)) }
        return .success(
            RedisServerIdentity(
                address: address, runID: runID, version: information.version ?? ""))
    }
}

/// What a server has to be for the link's purpose.
enum ServerRole {
    /// Takes writes.
    case primary
    /// Knows where primaries are; it has no data.
    case sentinel
    /// A node of a cluster, primary or replica.
    case clusterNode
}

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
    /// Valkey says 7.2.4 in redis_version, for the sake of clients that look, and its own version beside it.
    var version: String? { self["valkey_version"] ?? self["redis_version"] }
    /// Nil for a sentinel, which has no data.
    var isPrimary: Bool? { self["role"].map { $0 == "master" } }
    var isLoading: Bool { self["loading"] == "1" }
    var replicaCount: Int { self["connected_slaves"].flatMap { Int($0) } ?? 0 }

    private subscript(name: Substring) -> String? { fields[name].map { String($0) } }
}
