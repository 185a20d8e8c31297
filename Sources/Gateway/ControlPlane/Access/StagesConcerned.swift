import HTTP
import Store

extension OperationCall {
    /// The stages that it concerns, also through a resource of theirs: what an access key's `resources` are held against.
    func stages(of request: HTTPRequest, in state: StoreState) throws(APIError) -> [String] {
        if operation.isOnTags { return [state.stage(of: resource)] }
        let input = try Input(body: request.body)
        switch operation {
        case .getStage, .updateStage, .deleteStage, .getIngestConfiguration, .deleteIngestConfiguration:
            return [state.stage(of: try input.resource("arn"))]
        case .updateIngestConfiguration:
            // Detaching takes it from its stage alone.
            let new = try input.resource("stageArn")
            return [state.stage(of: try input.resource("arn"))] + (new.isEmpty ? [] : [new])
        case .listIngestConfigurations, .listCompositions: return [try input.resource("filterByStageArn")]
        case .createParticipantToken, .disconnectParticipant, .createIngestConfiguration, .listStageSessions, .getStageSession,
            .listParticipants, .getParticipant, .listParticipantEvents, .startComposition:
            return [try input.resource("stageArn")]
        case .startParticipantReplication, .stopParticipantReplication:
            return [try input.resource("sourceStageArn"), try input.resource("destinationStageArn")]
        case .listParticipantReplicas: return [try input.resource("sourceStageArn")]
        default: return [AccessPolicy.noStage]
        }
    }
}

extension StoreState {
    /// The stage that a resource is or belongs to; `AccessPolicy.noStage` for what is none and belongs to none.
    fileprivate func stage(of arn: String) -> String {
        if let configuration = ingestConfigurations[arn] { return configuration.stageARN }
        return stages[arn] == nil ? AccessPolicy.noStage : arn
    }
}

extension Input {
    /// An ARN as it was sent; `AccessPolicy.noStage` where none was.
    fileprivate func resource(_ name: String) throws(APIError) -> String { try optionalText(name, .any) ?? AccessPolicy.noStage }
}
