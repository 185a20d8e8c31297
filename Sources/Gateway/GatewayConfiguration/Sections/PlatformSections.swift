public import Wire

/// Who we are in ARNs.
public struct PlatformSettings: Equatable, Sendable {
    public var region = "us-east-1"
    public var account = "000000000000"

    public init() {}
}

/// How many resources may exist.
public struct QuotaSettings: Equatable, Sendable {
    public var stages = 1000
    public var ingestConfigurations = 100
    public var publicKeys = 3
    public var publishersPerStage = 12
    public var publishers = 1000

    public init() {}
}

/// API requests per second and access key.
public struct RateSettings: Equatable, Sendable {
    public var resources = 5
    public var tokens = 50
    public var publicKeys = 3
    public var tags = 10

    public init() {}
}

/// An own service that is asked before anybody publishes.
public struct AuthorizeSettings: Equatable, Sendable {
    public enum Fallback: String, CaseIterable, Sendable {
        case deny
        case allow
    }

    public var url = ""
    public var secret = Secret("")
    public var timeout = Duration.seconds(3)
    public var cache = Duration.seconds(0)
    public var onFailure = Fallback.deny

    public init() {}
}

extension AuthorizeSettings.Fallback: ChoiceValue {}

/// The journal of events.
public struct EventSettings: Equatable, Sendable {
    public var retention = Duration.seconds(14 * 86_400)

    public init() {}
}

/// One receiver of events.
public struct WebhookSettings: Equatable, Sendable {
    public var url = ""
    public var secret = Secret("")
    public var timeout = Duration.seconds(5)
    public var certificateAuthority = ""

    public init() {}
}

/// Where state is kept.
public struct StoreSettings: Equatable, Sendable {
    public var directory = "stagedoor-data"

    public init() {}
}
