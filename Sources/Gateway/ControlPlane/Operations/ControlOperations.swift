import HTTP
import JSON

/// The operations of the API, each in the group of its resource: a request in, output or error out, on any thread, exactly once.
struct ControlOperations: Sendable {
    private let stages: StageOperations
    private let tokens: TokenOperations
    private let publicKeys: PublicKeyOperations
    private let ingestConfigurations: IngestConfigurationOperations
    private let storageConfigurations: StorageConfigurationOperations
    private let sessions: SessionOperations
    private let replications: ReplicationOperations
    private let tags: TagOperations

    init(_ context: OperationContext) {
        (stages, tokens) = (StageOperations(context: context), TokenOperations(context: context))
        publicKeys = PublicKeyOperations(context: context)
        ingestConfigurations = IngestConfigurationOperations(context: context)
        storageConfigurations = StorageConfigurationOperations(context: context)
        replications = ReplicationOperations(context: context)
        (sessions, tags) = (SessionOperations(context: context), TagOperations(context: context))
    }

    func run(_ call: OperationCall, _ request: HTTPRequest, _ reply: @escaping OperationReply) {
        do throws(APIError) {
            switch call.operation {
            case .tagResource: try tags.tagResource(call.resource, try Input(body: request.body), reply)
            case .untagResource:
                let keys = request.queryItems.items.filter { $0.name == "tagKeys" }.map(\.value)
                try tags.untagResource(call.resource, keys: keys, reply)
            case .listTagsForResource: try tags.listTags(call.resource, reply)
            default: try perform(call.operation, try Input(body: request.body), reply)
            }
        } catch {
            reply(.failure(error))
        }
    }

    private func perform(_ operation: Operation, _ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        switch operation {
        case .createStage: try stages.createStage(input, reply)
        case .getStage: try stages.getStage(input, reply)
        case .updateStage: try stages.updateStage(input, reply)
        case .listStages: try stages.listStages(input, reply)
        case .deleteStage: try stages.deleteStage(input, reply)
        case .createParticipantToken: try tokens.createParticipantToken(input, reply)
        case .disconnectParticipant: try tokens.disconnectParticipant(input, reply)
        case .importPublicKey: try publicKeys.importPublicKey(input, reply)
        case .getPublicKey: try publicKeys.getPublicKey(input, reply)
        case .listPublicKeys: try publicKeys.listPublicKeys(input, reply)
        case .deletePublicKey: try publicKeys.deletePublicKey(input, reply)
        case .createIngestConfiguration: try ingestConfigurations.createIngestConfiguration(input, reply)
        case .getIngestConfiguration: try ingestConfigurations.getIngestConfiguration(input, reply)
        case .updateIngestConfiguration: try ingestConfigurations.updateIngestConfiguration(input, reply)
        case .listIngestConfigurations: try ingestConfigurations.listIngestConfigurations(input, reply)
        case .deleteIngestConfiguration: try ingestConfigurations.deleteIngestConfiguration(input, reply)
        case .createStorageConfiguration: try storageConfigurations.createStorageConfiguration(input, reply)
        case .getStorageConfiguration: try storageConfigurations.getStorageConfiguration(input, reply)
        case .listStorageConfigurations: try storageConfigurations.listStorageConfigurations(input, reply)
        case .deleteStorageConfiguration: try storageConfigurations.deleteStorageConfiguration(input, reply)
        case .listStageSessions: try sessions.listStageSessions(input, reply)
        case .getStageSession: try sessions.getStageSession(input, reply)
        case .listParticipants: try sessions.listParticipants(input, reply)
        case .getParticipant: try sessions.getParticipant(input, reply)
        case .listParticipantEvents: try sessions.listParticipantEvents(input, reply)
        case .startParticipantReplication: try replications.startParticipantReplication(input, reply)
        case .stopParticipantReplication: try replications.stopParticipantReplication(input, reply)
        case .listParticipantReplicas: try replications.listParticipantReplicas(input, reply)
        default:
            guard let list = operation.emptyList else {
                throw .accessDenied("\(operation.rawValue) is not served by Stagedoor.")
            }
            reply(.success([list: []]))
        }
    }
}
