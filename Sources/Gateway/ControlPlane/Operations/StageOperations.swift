import JSON
import Refusals
import Settings
import Store

/// Stages: made, looked at, renamed, listed, deleted.
struct StageOperations: Sendable {
    let context: OperationContext

    func createStage(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let stage = try newStage(input)
        let tokens = try newTokens(input, for: stage)
        let maximum = context.settings.quotas.stages
        context.write(reply) { transaction throws(APIError) in
            guard transaction.state.stages.count < maximum else { throw .quota("There are \(maximum) stages already.") }
            // This operation has no ResourceNotFoundException in the model.
            guard transaction.state.knows(storageOf: stage.recording) else {
                throw .validation("storageConfigurationArn names no storage configuration.")
            }
            transaction.put(stage)
        } then: { [self] _ in
            var output: JSONObject = ["stage": Output.stage(stage, endpoints: context.settings.endpoints, activeSessionID: nil)]
            if !tokens.isEmpty { output["participantTokens"] = .array(tokens) }
            return output
        }
    }

    private func newStage(_ input: Input) throws(APIError) -> Stage {
        let recording = try input.recording() ?? RecordingConfiguration()
        var stage = Stage(
            arn: context.settings.names.arn(.stage, Identifier.resource()), name: try input.optionalText("name", .name) ?? "",
            tags: try input.tags() ?? [:], createdAt: context.wallNow())
        stage.recording = recording
        return stage
    }

    private func newTokens(_ input: Input, for stage: Stage) throws(APIError) -> [JSONValue] {
        let issuer = TokenOperations(context: context)
        let configurations = try input.optionalStructures("participantTokenConfigurations", maximumCount: 12) ?? []
        return try configurations.map { configuration throws(APIError) in
            try issuer.mint(try TokenRequest(configuration), stageARN: stage.arn)
        }
    }

    func getStage(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        answer(try context.stage(input.text("arn", .arn(.stage))), reply)
    }

    func updateStage(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.stage))
        let name = try input.optionalText("name", .name)
        let recording = try input.recording()
        let isChanged = recording.map { $0 != context.store.state.stages[arn]?.recording } ?? false
        context.isRecording(onStages: isChanged ? [arn] : [], reply) { [self] isRecording in
            update(arn, name: name, recording: recording, isRecording: isRecording, reply)
        }
    }

    private func update(
        _ arn: String, name: String?, recording: RecordingConfiguration?, isRecording: Bool, _ reply: @escaping OperationReply
    ) {
        context.write(reply) { transaction throws(APIError) in
            guard var stage = transaction.state.stages[arn] else { throw .noStage }
            if let name { stage.name = name }
            if let recording, recording != stage.recording {
                guard transaction.state.knows(storageOf: recording) else { throw .noStorageConfiguration }
                guard !isRecording else {
                    throw .conflict("Participants are being recorded: end them first, or wait until they have left.")
                }
                stage.recording = recording
            }
            transaction.put(stage)
            return stage
        } finish: { [self] in
            answer($0, reply)
        }
    }

    func listStages(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let page = try Page(input, list: "stages")
        let stages = page.items(of: context.store.state.stages.values, key: \.arn)
        context.leases.activeSessions(ofStages: stages.map(\.arn)) { result in
            let output = result.map { sessions in
                page.output("stages", stages, key: \.arn) { stage in
                    Output.stage(stage, endpoints: nil, activeSessionID: sessions[stage.arn]?.sessionID)
                }
            }
            reply(output.mapError { APIError($0) })
        }
    }

    /// Ends every publish of the stage and what is replicated to it or from it, and detaches its ingest configurations.
    func deleteStage(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.stage))
        context.write(reply) { transaction throws(APIError) in
            guard transaction.state.stages[arn] != nil else { throw .noStage }
            let stopped = transaction.stopReplications { $0.sourceStageARN == arn || $0.destinationStageARN == arn }
            transaction.removeStage(arn)
            for var configuration in transaction.state.ingestConfigurations.values where configuration.stageARN == arn {
                configuration.stageARN = ""
                transaction.put(configuration)
            }
            return stopped
        } then: { [self] stopped in
            context.tellStopped(stopped)
            context.leases.endAll(ofStage: arn, Refusal(.stageDeleted))
            return [:]
        }
    }

    /// The stage with the id of its running session.
    private func answer(_ stage: Stage, _ reply: @escaping OperationReply) {
        let endpoints = context.settings.endpoints
        context.leases.activeSessions(ofStages: [stage.arn]) { result in
            let output = result.map { sessions -> JSONObject in
                let sessionID = sessions[stage.arn]?.sessionID
                return ["stage": Output.stage(stage, endpoints: endpoints, activeSessionID: sessionID)]
            }
            reply(output.mapError { APIError($0) })
        }
    }
}

extension StoreState {
    /// Whether the recording's storage configuration is there; where nothing is recorded, it need not be.
    fileprivate func knows(storageOf recording: RecordingConfiguration) -> Bool {
        !recording.isEnabled || storageConfigurations[recording.storageARN] != nil
    }
}
