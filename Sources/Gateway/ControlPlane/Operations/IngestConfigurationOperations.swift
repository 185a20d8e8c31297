import JSON
import Refusals
import Store
import Wire

extension ControlOperations {
    func createIngestConfiguration(_ input: Input, _ reply: @escaping Reply) throws(APIError) {
        let transport = try input.text("ingestProtocol", .oneOf("RTMP", "RTMPS"))
        let isInsecure = try input.optionalFlag("insecureIngest") ?? false
        guard transport == "RTMPS" || isInsecure else {
            throw .validation("ingestProtocol RTMP needs insecureIngest to be true.")
        }
        let identifier = Identifier.resource()
        var made = IngestConfiguration(
            arn: settings.names.arn(.ingestConfiguration, identifier), name: try input.optionalText("name", .name) ?? "",
            stageARN: try input.optionalText("stageArn", .stageARNOrEmpty) ?? "", participantID: Identifier.resource(),
            streamKey: streamKey(identifier), transport: transport == "RTMP" ? .rtmp : .rtmps, insecureIngest: isInsecure,
            createdAt: wallNow())
        made.userID = try input.optionalText("userId", .userID) ?? ""
        (made.attributes, made.tags) = (try input.attributes() ?? [:], try input.tags() ?? [:])
        setRedundancy(try input.optionalFlag("redundantIngest") ?? false, of: &made)
        let configuration = made
        let maximum = settings.quotas.ingestConfigurations
        write(reply) { transaction throws(APIError) in
            // This operation has no ResourceNotFoundException in the model.
            guard configuration.stageARN.isEmpty || transaction.state.stages[configuration.stageARN] != nil else {
                throw .validation("stageArn names no stage.")
            }
            guard transaction.state.ingestConfigurations.count < maximum else {
                throw .quota("There are \(maximum) ingest configurations already.")
            }
            transaction.put(configuration)
        } then: { [self] _ in
            encoded(configuration)
        }
    }

    func getIngestConfiguration(_ input: Input, _ reply: @escaping Reply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        guard let configuration = store.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
        reply(.success(encoded(configuration)))
    }

    func updateIngestConfiguration(_ input: Input, _ reply: @escaping Reply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        let stageARN = try input.optionalText("stageArn", .stageARNOrEmpty)
        let isRedundant = try input.optionalFlag("redundantIngest")
        write(reply) { [self] transaction throws(APIError) in
            guard var configuration = transaction.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
            guard !leases.isLive(configuration) else {
                throw .conflict("The ingest configuration is publishing: end that first, or disconnect its participant.")
            }
            if let stageARN {
                guard stageARN.isEmpty || transaction.state.stages[stageARN] != nil else { throw .noStage }
                configuration.stageARN = stageARN
            }
            if let isRedundant { setRedundancy(isRedundant, of: &configuration) }
            transaction.put(configuration)
            return configuration
        } then: { [self] in
            encoded($0)
        }
    }

    func listIngestConfigurations(_ input: Input, _ reply: @escaping Reply) throws(APIError) {
        let page = try Page(input, list: "ingestConfigurations")
        let stageARN = try input.optionalText("filterByStageArn", .arn(.stage))
        let state = try input.optionalText("filterByState", .oneOf("ACTIVE", "INACTIVE"))
        guard stageARN == nil || state == nil else { throw .validation("Only one filter may be given.") }
        let matching = store.state.ingestConfigurations.values.filter { configuration in
            (stageARN ?? configuration.stageARN) == configuration.stageARN
                && (state == nil || (state == "ACTIVE") == leases.isLive(configuration))
        }
        let shown = page.items(of: matching, key: \.arn)
        reply(
            .success(
                page.output("ingestConfigurations", shown, key: \.arn) {
                    Output.ingestConfiguration($0, isActive: leases.isLive($0), isSummary: true)
                }))
    }

    func deleteIngestConfiguration(_ input: Input, _ reply: @escaping Reply) throws(APIError) {
        let arn = try input.text("arn", .arn(.ingestConfiguration))
        let isForced = try input.optionalFlag("force") ?? false
        write(reply) { [self] transaction throws(APIError) in
            guard let configuration = transaction.state.ingestConfigurations[arn] else { throw .noIngestConfiguration }
            guard isForced || !leases.isLive(configuration) else {
                throw .conflict("The ingest configuration is publishing: use force to end that as well.")
            }
            transaction.removeIngestConfiguration(arn)
            return configuration
        } then: { [self] configuration in
            for credential in configuration.credentials {
                leases.end(
                    participantID: credential.participantID, stageARN: configuration.stageARN,
                    Refusal(.participantDisconnected, sentence: "The ingest configuration was deleted: use another stream key."))
            }
            return [:]
        }
    }

    private func encoded(_ configuration: IngestConfiguration) -> JSONObject {
        [
            "ingestConfiguration": Output.ingestConfiguration(
                configuration, isActive: leases.isLive(configuration), isSummary: false)
        ]
    }

    private func streamKey(_ identifier: String) -> Secret {
        Secret(settings.names.streamKey(identifier: identifier, secret: Identifier.random(32)))
    }

    /// Two more credentials when redundancy begins; none when it ends.
    private func setRedundancy(_ isRedundant: Bool, of configuration: inout IngestConfiguration) {
        guard isRedundant != configuration.redundantIngest else { return }
        let identifier = ResourceName.identifier(inARN: configuration.arn)
        configuration.redundantIngest = isRedundant
        configuration.redundantCredentials =
            isRedundant
            ? (0..<2).map { _ in .init(participantID: Identifier.resource(), streamKey: streamKey(identifier)) } : []
    }
}

extension APIError {
    static let noIngestConfiguration = notFound("There is no such ingest configuration.")
}
