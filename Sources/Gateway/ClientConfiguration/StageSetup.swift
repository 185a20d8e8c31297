public import Admission
import EncoderSetup
public import JSON
public import MediaContract
import Settings
public import Store
import Wire

/// What encoders that publish to a stage by stream key should be set to, by what the platform holds at that moment. For any
/// thread.
public struct StageSetup: Sendable {
    let store: any GatewayStore
    let contract: ContractContext
    private let endpoints: StageEndpoints
    private let gate: AdmissionGate

    public init(store: any GatewayStore, endpoints: StageEndpoints, gate: AdmissionGate, contract: ContractContext) {
        (self.store, self.endpoints, self.gate, self.contract) = (store, endpoints, gate, contract)
    }

    /// Whether encoders can publish by stream key at all.
    public var isServed: Bool { !endpoints.rtmp.isEmpty || !endpoints.rtmps.isEmpty }

    /// By which an encoder would publish: TLS where it is served.
    var ingestProtocol: IngestProtocol { endpoints.rtmps.isEmpty ? .rtmp : .rtmps }

    /// The JSON for OBS' *Config Override*, of whose machine nothing is known; nil when there is no such ingest configuration.
    ///
    /// Holds the stream key. While it belongs to no stage, the contract of stages without tags of their own counts.
    /// - Parameters:
    ///   - id: the text after `ingest-configuration/` in the ARN.
    ///   - encoder: which of two redundant ones, 1 or 2; of no meaning without redundant ingest.
    ///   - layers: how many pictures OBS is to make at once, at the most.
    public func override(forIngestConfiguration id: String, encoder: Int = 1, layers: Int = 1) -> JSONObject? {
        guard let configuration = ingestConfiguration(id: id) else { return nil }
        let rules = contract.rules(forStageTags: store.state.stages[configuration.stageARN]?.tags ?? [:])
        var document = OBSConfiguration(
            identifier: id, endpoints: endpoints(for: configuration), encoder: .usual, target: StreamTarget(rules: rules))
        document.layerCount = layers
        document.streamKey = configuration.streamKey(ofEncoder: encoder).revealText()
        return document.document
    }

    /// - Parameter id: the text after `ingest-configuration/` in the ARN.
    public func ingestConfiguration(id: String) -> IngestConfiguration? {
        store.state.ingestConfigurations.values.first { ResourceName.identifier(inARN: $0.arn) == id }
    }

    /// The answer to a machine that tells of itself.
    /// - Parameter grant: nil for whoever may not publish: it is told that alone, and nowhere to go.
    func configuration(for asked: ClientConfigurationRequest, _ grant: PublishGrant?) -> OBSConfiguration {
        let target = StreamTarget(
            rules: contract.rules(forStageTags: grant?.stageTags ?? [:]), canvas: asked.canvas,
            maximumKilobits: asked.maximumKilobits)
        let own = grant?.ingestConfigurationARN.flatMap { store.state.ingestConfigurations[$0] }
        var configuration = OBSConfiguration(
            identifier: Identifier.random(12), endpoints: own.map { endpoints(for: $0) } ?? [],
            encoder: OBSEncoder(on: asked.machine), target: target)
        (configuration.service, configuration.schemaVersion) = (asked.service, asked.schemaVersion)
        (configuration.audioChannelCount, configuration.hasVODTrack) = (asked.audioChannelCount, asked.hasVODTrack)
        configuration.layerCount = min(asked.maximumVideoTracks ?? StreamTarget.maximumLayers, configuration.encoder.layerCount)
        if grant != nil { configuration.streamKey = asked.streamKey.revealText() }
        return configuration
    }

    /// Where the configuration's encoders may publish: by TLS first.
    private func endpoints(for configuration: IngestConfiguration) -> [OBSConfiguration.Endpoint] {
        var list: [OBSConfiguration.Endpoint] = []
        if !endpoints.rtmps.isEmpty { list.append(.init(transport: .rtmps, url: endpoints.rtmps)) }
        if !endpoints.rtmp.isEmpty, configuration.insecureIngest, !gate.requiresTLS {
            list.append(.init(transport: .rtmp, url: endpoints.rtmp))
        }
        return list
    }
}
