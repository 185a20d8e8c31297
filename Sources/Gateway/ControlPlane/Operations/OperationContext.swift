import EventLoop
import JSON
import Store
import Wire

/// Where an operation's output or error goes: on any thread, exactly once.
typealias OperationReply = @Sendable (Result<JSONObject, APIError>) -> Void

/// What operations work with.
struct OperationContext: Sendable {
    var settings: ControlPlaneSettings
    let store: any GatewayStore
    let leases: any LeaseControl
    let authority: TokenAuthority
    /// Whether somebody watches as that participant, at any node.
    let isWatching: @Sendable (StageParticipant) -> Bool
    let tryBucket: BucketTrial
    let replications: ReplicationAnswers
    let wallNow: @Sendable () -> WallTime

    init(_ settings: ControlPlaneSettings, _ environment: ControlPlane.Environment) {
        (self.settings, store, leases, authority) = (settings, environment.store, environment.leases, environment.authority)
        (isWatching, tryBucket, wallNow) = (environment.isWatching, environment.tryBucket, environment.wallNow)
        replications = ReplicationAnswers(environment.observers)
    }

    func stage(_ arn: String) throws(APIError) -> Stage {
        guard let stage = store.state.stages[arn] else { throw .noStage }
        return stage
    }

    /// Writes, then encodes what the transaction made.
    func write<Value: Sendable>(
        _ reply: @escaping OperationReply, _ body: @escaping @Sendable (inout StateTransaction) throws(APIError) -> Value,
        then encode: @escaping @Sendable (Value) -> JSONObject
    ) {
        store.write { transaction in
            try body(&transaction)
        } reply: { result in
            reply(result.map(encode).mapError { APIError($0) })
        }
    }

    /// Writes, then hands what the transaction made to `finish`, which replies.
    func write<Value: Sendable>(
        _ reply: @escaping OperationReply, _ body: @escaping @Sendable (inout StateTransaction) throws(APIError) -> Value,
        finish: @escaping @Sendable (Value) -> Void
    ) {
        store.write { transaction in
            try body(&transaction)
        } reply: { result in
            result.pass(to: finish, or: reply)
        }
    }

    /// Asks which of the participants publish now, at any node; `finish` replies.
    func whoIsLive(
        among participants: Set<StageParticipant>, _ reply: @escaping OperationReply,
        finish: @escaping @Sendable (Set<StageParticipant>) -> Void
    ) {
        leases.live(among: participants) { $0.pass(to: finish, or: reply) }
    }

    /// Asks whether a recording of one of the stages' participants begins or goes on, at any node; `finish` replies.
    func isRecording(
        onStages arns: [String], _ reply: @escaping OperationReply, finish: @escaping @Sendable (Bool) -> Void
    ) {
        guard !arns.isEmpty else { return finish(false) }
        leases.activeSessions(ofStages: arns) { result in
            guard case .success(let sessions) = result else { return reply(.failure(.unavailable)) }
            read(reply, { history in try sessions.values.contains { try $0.isRecorded(history) } }, finish: finish)
        }
    }

    /// Asks the history for the output.
    func read(_ reply: @escaping OperationReply, _ body: @escaping @Sendable (any HistoryReading) throws -> JSONObject) {
        read(reply, body) { reply(.success($0)) }
    }

    /// Asks the history, then hands what it found to `finish`, which replies.
    func read<Value: Sendable>(
        _ reply: @escaping OperationReply, _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        finish: @escaping @Sendable (Value) -> Void
    ) {
        store.read(body) { $0.pass(to: finish, or: reply) }
    }
}

extension Result {
    /// Hands a success to `finish`, which replies; a failure is the reply.
    fileprivate func pass(to finish: (Success) -> Void, or reply: OperationReply) {
        switch self {
        case .success(let value): finish(value)
        case .failure(let error): reply(.failure(APIError(error)))
        }
    }
}

extension StageSession {
    fileprivate func isRecorded(_ history: any HistoryReading) throws -> Bool {
        try [ParticipantRecording.State.starting, .active].contains { state in
            try !history.participants(ofStage: stageARN, sessionID: sessionID, matching: .recording(state), limit: 1).isEmpty
        }
    }
}
