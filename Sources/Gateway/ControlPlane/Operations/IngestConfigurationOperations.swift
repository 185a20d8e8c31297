import JSON
import Refusals
import Settings
import Store
import Wire

/// Ingest configurations: the stream keys of a stage.
struct IngestConfigurationOperations: Sendable {
    let context: OperationContext

    func createIngestConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let configuration = try newConfiguration(input)
        let maximum = context.settings.quotas.ingestConfigurations
        context.write(reply) { transaction throws(APIError) in
            // This operation has no ResourceNotFoundException in the model.
            guard configuration.stageARN.isEmpty || transaction.state.stages[configuration.stageARN] != nil else {
                throw .validation("stageArn names no stage.")
            }
            guard transaction.state.ingestConfigurations.count < maximum else {
                throw .quota("There are \(maximum) ingest configurations already.")
            }
            transaction.put(configuration)
        } then: { _ in
            Self.encoded(configuration, isActive: false)
        }
    }

    private func newConfiguration(_ input: Input) throws(APIError) -> IngestConfiguration {
        let transport = try input.text("ingestProtocol", .oneOf("RTMP", "RTMPS"))
        let isInsecure = try input.optionalFlag("insecureIngest") ?? false
        guard transport == "RTMPS" || isInsecure else {
            throw .validation("ingestProtocol RTMP needs insecureIngest to be true.")
        }
        let identifier = Identifier.resource()
        var configuration = IngestConfiguration(
            arn: context.settings.names.arn(.ingestConfiguration, identifier), name: try input.optionalText("name", .name) ?? "",
            stageARN: try input.optionalText("stageArn", .arnOrEmpty(.stage)) ?? "", participantID: Identifier.resource(),
            streamKey: streamKey(identifier), transport: transport == "RTMP" ? .rtmp : .rtmps, insecureIngest: isInsecure,
            createdAt: context.wallNow())
        configuration.userID = try input.optionalText("userId", .userID) ?? ""
        (configuration.attributes, configuration.tags) = (try input.attributes() ?? [:], try input.tags() ?? [:])
        setRedundancy(try input.optionalFlag("redundantIngest") ?? false, of: &configuration)
        return configuration
    }

    func getIngestConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        guard let configuration = context.store.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
        answer(configuration, reply)
    }

    func updateIngestConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        let stageARN = try input.optionalText("stageArn", .arnOrEmpty(.stage))
        let isRedundant = try input.optionalFlag("redundantIngest")
        context.whoIsLive(among: publishers(of: arn), reply) { [self] live in
            context.write(reply) { [self] transaction throws(APIError) in
                guard var configuration = transaction.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
                guard !isPublishing(configuration, live) else {
                    throw .conflict("The ingest configuration is publishing: end that first, or disconnect its participant.")
                }
                let former = configuration.publishers
                if let stageARN {
                    guard stageARN.isEmpty || transaction.state.stages[stageARN] != nil else { throw .noStage }
                    configuration.stageARN = stageARN
                }
                if let isRedundant { setRedundancy(isRedundant, of: &configuration) }
                transaction.put(configuration)
                let gone = former.subtracting(configuration.publishers)
                let stopped = transaction.stopReplications { gone.contains($0.source) }
                return (configuration: configuration, gone: gone, stopped: stopped)
            } finish: { [self] updated in
                context.tellStopped(updated.stopped)
                // Those that came since the transaction looked for them.
                let changed = Refusal(
                    .participantDisconnected,
                    sentence: "The ingest configuration was changed: start the stream again with its present stream key.")
                for publisher in updated.gone { context.leases.end(publisher, changed) }
                answer(updated.configuration, reply)
            }
        }
    }

    func listIngestConfigurations(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let page = try Page(input, list: "ingestConfigurations")
        let stageARN = try input.optionalText("filterByStageArn", .arn(.stage))
        let state = try input.optionalText("filterByState", .oneOf("ACTIVE", "INACTIVE"))
        guard stageARN == nil || state == nil else { throw .validation("Only one filter may be given.") }
        let all = context.store.state.ingestConfigurations.values
        let candidates = all.lazy.filter { (stageARN ?? $0.stageARN) == $0.stageARN }
        // Only a filter by what is live has to know that of more than a page.
        let shown = state == nil ? page.items(of: candidates, key: \.arn) : Array(candidates)
        context.whoIsLive(among: Set(shown.flatMap(\.publishers)), reply) { live in
            let isActive: (IngestConfiguration) -> Bool = { !$0.publishers.isDisjoint(with: live) }
            let matching = state.map { state in shown.filter { (state == "ACTIVE") == isActive($0) } } ?? shown
            let listed = state == nil ? matching : page.items(of: matching, key: \.arn)
            reply(
                .success(
                    page.output("ingestConfigurations", listed, key: \.arn) {
                        .object(Output.ingestConfigurationSummary($0, isActive: isActive($0)))
                    }))
        }
    }

    func deleteIngestConfiguration(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        let isForced = try input.optionalFlag("force") ?? false
        let remove: @Sendable (Set<StageParticipant>) -> Void = { [self] live in
            context.write(reply) { [self] transaction throws(APIError) in
                guard let configuration = transaction.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
                guard isForced || !isPublishing(configuration, live) else {
                    throw .conflict("The ingest configuration is publishing: use force to end that as well.")
                }
                transaction.removeIngestConfiguration(arn)
                let publishers = configuration.publishers
                return (publishers: publishers, stopped: transaction.stopReplications { publishers.contains($0.source) })
            } then: { [self] deleted in
                context.tellStopped(deleted.stopped)
                for publisher in deleted.publishers {
                    context.leases.end(
                        publisher,
                        Refusal(
                            .participantDisconnected, sentence: "The ingest configuration was deleted: use another stream key."))
                }
                return [:]
            }
        }
        if isForced { remove([]) } else { context.whoIsLive(among: publishers(of: arn), reply, finish: remove) }
    }

    private func publishers(of arn: String) -> Set<StageParticipant> {
        context.store.state.ingestConfigurations[arn]?.publishers ?? []
    }

    /// Asked in the transaction: of this node's publishers it sees those that came after the leases were asked.
    private func isPublishing(_ configuration: IngestConfiguration, _ live: Set<StageParticipant>) -> Bool {
        configuration.publishers.contains { live.contains($0) || context.leases.isHeldHere($0) }
    }

    /// The configuration with whether it is in use.
    private func answer(_ configuration: IngestConfiguration, _ reply: @escaping OperationReply) {
        context.whoIsLive(among: configuration.publishers, reply) { live in
            reply(.success(Self.encoded(configuration, isActive: !live.isEmpty)))
        }
    }

    private static func encoded(_ configuration: IngestConfiguration, isActive: Bool) -> JSONObject {
        ["ingestConfiguration": Output.ingestConfiguration(configuration, isActive: isActive)]
    }

    private func streamKey(_ identifier: String) -> Secret {
        Secret(context.settings.names.streamKey(identifier: identifier, secret: Identifier.random(32)))
    }

    /// Two more credentials when redundancy begins; none when it ends.
    private func setRedundancy(_ isRedundant: Bool, of configuration: inout IngestConfiguration) {
        guard isRedundant != configuration.redundantIngest else { return }
        let identifier = ResourceName.identifier(inARN: configuration.arn)
        configuration.redundantIngest = isRedundant
        // In the order in which the store gives them back: encoder 1 stays encoder 1.
        let participants = isRedundant ? [Identifier.resource(), Identifier.resource()].sorted() : []
        configuration.redundantCredentials = participants.map { .init(participantID: $0, streamKey: streamKey(identifier)) }
    }
}
