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
    let wallNow: @Sendable () -> WallTime

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
            switch result {
            case .success(let value): finish(value)
            case .failure(let error): reply(.failure(APIError(error)))
            }
        }
    }

    /// Asks which of the participants publish now, at any node; `finish` replies.
    func whoIsLive(
        among participants: Set<StageParticipant>, _ reply: @escaping OperationReply,
        finish: @escaping @Sendable (Set<StageParticipant>) -> Void
    ) {
        leases.live(among: participants) { result in
            switch result {
            case .success(let live): finish(live)
            case .failure(let error): reply(.failure(APIError(error)))
            }
        }
    }

    /// Asks the history, then encodes what it found.
    func read(_ reply: @escaping OperationReply, _ body: @escaping @Sendable (any HistoryReading) throws -> JSONObject) {
        store.read(body) { result in reply(result.mapError { APIError($0) }) }
    }
}
