// fuzz: module=EncoderSetup
import EncoderSetup
import JSON
import Settings

/// What OBS posts before it goes live, and the answer that is made of it: always one picture within the contract.
enum ClientConfigurationFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let request = try? ClientConfigurationRequest(parsing: Array(bytes)) else { return }
        let rules = ContractSettings()
        let target = StreamTarget(rules: rules, canvas: request.canvas, maximumKilobits: request.maximumKilobits)
        precondition(target.width > 0 && target.height > 0 && target.width * target.height <= rules.maximumResolution.limit)
        precondition(target.videoKilobits > 0 && target.videoKilobits * 1_000 < rules.videoBitrate.limit)
        var configuration = OBSConfiguration(
            identifier: "c", endpoints: [.init(transport: .rtmp, url: "rtmp://h/app")], encoder: OBSEncoder(on: request.machine),
            target: target)
        (configuration.service, configuration.schemaVersion) = (request.service, request.schemaVersion)
        let written = JSONValue.object(configuration.document).serialized()
        precondition(
            (try? JSONValue(parsing: written)) == .object(configuration.document), "the answer does not survive a round trip")
    }
}
