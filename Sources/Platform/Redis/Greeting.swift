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
                address: address, runID: runID, replicationID: information.replicationID ?? "",
                version: information.version ?? ""))
    }
}
