import EventLoop
import JSON
import Settings
import Store
import Wire

/// The operations themselves: input in, output or error out, on any thread, exactly once.
struct ControlOperations: Sendable {
    typealias Reply = @Sendable (Result<JSONObject, APIError>) -> Void

    var settings: ControlPlaneSettings
    let store: any GatewayStore
    let leases: any LeaseControl
    let authority: TokenAuthority
    /// Whether somebody watches as that participant, at whatever node.
    let isWatching: @Sendable (StageParticipant) -> Bool
    let wallNow: @Sendable () -> WallTime

    func run(_ operation: Operation, _ input: Input, _ reply: @escaping Reply) {
        do throws(APIError) {
            try start(operation, input, reply)
        } catch {
            reply(.failure(error))
        }
    }

    private func start(_ operation: Operation, _ input: Input, _ reply: @escaping Reply) throws(APIError) {
        switch operation {
        case .createStage: try createStage(input, reply)
        case .getStage: try getStage(input, reply)
        case .updateStage: try updateStage(input, reply)
        case .listStages: try listStages(input, reply)
        case .deleteStage: try deleteStage(input, reply)
        case .createParticipantToken: try createParticipantToken(input, reply)
        case .disconnectParticipant: try disconnectParticipant(input, reply)
        case .importPublicKey: try importPublicKey(input, reply)
        case .getPublicKey: try getPublicKey(input, reply)
        case .listPublicKeys: try listPublicKeys(input, reply)
        case .deletePublicKey: try deletePublicKey(input, reply)
        case .createIngestConfiguration: try createIngestConfiguration(input, reply)
        case .getIngestConfiguration: try getIngestConfiguration(input, reply)
        case .updateIngestConfiguration: try updateIngestConfiguration(input, reply)
        case .listIngestConfigurations: try listIngestConfigurations(input, reply)
        case .deleteIngestConfiguration: try deleteIngestConfiguration(input, reply)
        case .listStageSessions: try listStageSessions(input, reply)
        case .getStageSession: try getStageSession(input, reply)
        case .listParticipants: try listParticipants(input, reply)
        case .getParticipant: try getParticipant(input, reply)
        case .listParticipantEvents: try listParticipantEvents(input, reply)
        default:
            guard let list = operation.emptyList else {
                throw .accessDenied("\(operation.rawValue) is not served by Stagedoor.")
            }
            reply(.success([list: []]))
        }
    }

    /// Writes, then encodes what the transaction made.
    func write<Value: Sendable>(
        _ reply: @escaping Reply, _ body: @escaping @Sendable (inout StateTransaction) throws(APIError) -> Value,
        then encode: @escaping @Sendable (Value) -> JSONObject
    ) {
        store.write { transaction in
            try body(&transaction)
        } reply: { result in
            reply(result.map(encode).mapError { APIError($0) })
        }
    }

    /// Writes, then goes on with what the transaction made; `finish` replies.
    func write<Value: Sendable>(
        _ reply: @escaping Reply, _ body: @escaping @Sendable (inout StateTransaction) throws(APIError) -> Value,
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

    /// Asks which of the participants publish now, at whatever node; `finish` replies.
    func whoIsLive(
        among participants: Set<StageParticipant>, _ reply: @escaping Reply,
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
    func read(_ reply: @escaping Reply, _ body: @escaping @Sendable (any HistoryReading) throws -> JSONObject) {
        store.read(body) { result in reply(result.mapError { APIError($0) }) }
    }
}
