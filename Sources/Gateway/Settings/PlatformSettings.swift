public import Wire

/// Who we are in ARNs.
public struct PlatformSettings: Equatable, Sendable {
    /// The region, 1 to 32 of `[a-z0-9-]`.
    public var region = "us-east-1"
    /// The account, 12 digits.
    public var account = "000000000000"

    public init() {}
}

/// What participant tokens are held to beside their signature.
public struct TokenSettings: Equatable, Sendable {
    public enum EndpointCheck: String, CaseIterable, Sendable {
        /// `events_url` and `whip_url` must be endpoints of the last 14 days.
        case strict
        /// Any URLs, while moving from another service.
        case lenient
    }

    /// Which endpoints tokens may name.
    public var endpointCheck = EndpointCheck.strict

    public init() {}
}

/// How many resources may exist.
public struct QuotaSettings: Equatable, Sendable {
    /// Stages.
    public var stages = 1000
    /// Ingest configurations.
    public var ingestConfigurations = 100
    /// Imported public keys.
    public var publicKeys = 3
    /// Storage configurations.
    public var storageConfigurations = 5
    /// Participants that may publish to one stage at once; a redundant pair counts once.
    public var publishersPerStage = 12
    /// Participants that may publish at once, on all stages and nodes.
    public var publishers = 1000

    // Without a key in the file.

    /// A stage session ends this long after its last publisher.
    public var sessionLinger = Duration.seconds(180)

    public init() {}
}

/// API requests per second and access key.
public struct RateSettings: Equatable, Sendable {
    /// Stages, participants, replication, ingest and storage configurations.
    public var resources = 5
    /// CreateParticipantToken.
    public var tokens = 50
    /// Public keys.
    public var publicKeys = 3
    /// Tags.
    public var tags = 10

    public init() {}
}

/// An own service that is asked before anybody publishes.
public struct AuthorizeSettings: Equatable, Sendable {
    public enum Fallback: String, CaseIterable, Sendable {
        case deny
        case allow
    }

    /// HTTP or HTTPS URL that gets a POST.
    public var url = ""
    /// Signs the question; empty leaves it unsigned.
    public var secret = Secret("")
    /// Time for its answer.
    public var timeout = Duration.seconds(3)
    /// How long a verdict is kept for the same credential and protocol.
    public var cache = Duration.seconds(0)
    /// Whether encoders are let in while the service fails.
    public var onFailure = Fallback.deny

    public init() {}
}

/// The journal of events.
public struct EventSettings: Equatable, Sendable {
    /// How long events and sessions are kept after their end.
    public var retention = Duration.seconds(14 * 86_400)

    public init() {}
}

/// One receiver of events.
public struct WebhookSettings: Equatable, Sendable {
    /// It gets a POST for each event.
    public var url = ""
    /// Signs every request; empty leaves them unsigned.
    public var secret = Secret("")
    /// Time for its answer.
    public var timeout = Duration.seconds(5)
    /// A PEM file of who may sign its certificate; empty for the system's.
    public var certificateAuthority = ""

    public init() {}
}

/// Where state is kept.
public struct StoreSettings: Equatable, Sendable {
    /// The data directory; `serve --data` wins.
    public var directory = "stagedoor-data"

    public init() {}
}
