public import Admission
import EncoderSetup
import EventLoop
import GatewayLogging
public import GatewayMetrics
import MediaContract
public import Monitoring
import Refusals
public import Store
import Wire

/// What all workers' parts of `GetClientConfiguration` share. For any thread.
public struct ClientConfigurationContext: Sendable {
    let setup: StageSetup
    let authorizer: any Authorizer
    let leases: any LeaseControl
    let metrics: ClientConfigurationMetrics
    /// Told of refusals, and asked for the words of earlier ones.
    private let board: SessionBoard

    public init(
        setup: StageSetup, authorizer: any Authorizer, leases: any LeaseControl, board: SessionBoard, metrics: MetricsRegistry
    ) {
        (self.setup, self.authorizer, self.leases, self.board) = (setup, authorizer, leases, board)
        self.metrics = ClientConfigurationMetrics(metrics)
    }

    /// The sentence with which this node ended that publish; of one at another node there is the code alone.
    func words(for end: BrokenPublish, of grant: PublishGrant) -> String {
        let told = board.refused.last {
            $0.grant?.participant == grant.participant && $0.refusal.code.eventErrorCode == end.errorCode
                && abs((end.time - $0.time).inSeconds) < Self.sameMoment
        }
        return told?.refusal.text ?? end.errorCode
    }

    /// The key is good: what the encoder shall be set to, with what it has to hear before.
    func configuration(
        for asked: ClientConfigurationRequest, _ request: PublishRequest, _ grant: PublishGrant, _ outlook: PublishOutlook
    ) -> OBSConfiguration {
        var configuration = setup.configuration(for: asked, grant)
        configuration.status = outlook.status
        // Its words have been told, and other settings are on their way.
        setup.contract.forgetRefusal(credential: grant.credentialHash, at: EventLoop.monotonicNow())
        Log.event(
            .info, "client_configuration",
            [
                "participant": .string(grant.participantID), "stage": .string(grant.stageID), "remote": .address(request.source),
                "user_agent": .string(request.userAgent), "configuration": .string(configuration.identifier),
                "encoder": .string(configuration.encoder.type),
                "picture": .string("\(configuration.target.width)x\(configuration.target.height)"),
                "video_kbps": .integer(configuration.target.videoKilobits), "layers": .integer(configuration.layers.count),
                "live": .bool(outlook.isLive ?? false),
                "last_end": .string(outlook.lastEnd ?? ""),
            ])
        return configuration
    }

    func refuse(_ asked: ClientConfigurationRequest, _ request: PublishRequest, _ refusal: Refusal) -> OBSConfiguration {
        Log.strangerEvent(
            .info, "client_configuration_refused",
            [
                "code": .string(refusal.code.identifier), "sentence": .string(refusal.sentence),
                "remote": .address(request.source), "user_agent": .string(request.userAgent),
            ])
        var attempt = RefusedAttempt(
            refusal, of: nil, by: request.ingestProtocol, from: request.source, userAgent: request.userAgent)
        attempt.isInquiry = true
        board.note(attempt)
        var configuration = setup.configuration(for: asked, nil)
        configuration.status = .error(refusal.text)
        return configuration
    }

    /// Between a refusal's note here and its event in the history, in seconds.
    private static let sameMoment = 5.0
}

/// Counts answers by what OBS makes of them.
struct ClientConfigurationMetrics: Sendable {
    private let success: Counter
    private let warning: Counter
    private let error: Counter

    init(_ registry: MetricsRegistry) {
        func counter(_ result: String) -> Counter {
            registry.counter(
                "stagedoor_client_configurations_total", "Encoders that asked what to be set to, by the answer's status.",
                ["result": result])
        }
        (success, warning, error) = (counter("success"), counter("warning"), counter("error"))
    }

    func count(_ status: OBSConfiguration.Status) {
        switch status {
        case .success: success.increment()
        case .warning: warning.increment()
        case .error: error.increment()
        }
    }
}
