public import Wire

/// What strangers may cost.
public struct LimitSettings: Equatable, Sendable {
    public var unauthenticatedConnections = 2000
    public var connectionsPerAddress = 64
    public var failuresPerMinute = 20

    public init() {}
}

/// When new publishes are refused so that live ones do not suffer.
public struct OverloadSettings: Equatable, Sendable {
    public var maximumPublishers = 0
    public var cpu = 90
    public var loopLag = Duration.milliseconds(100)
    public var descriptors = 80
    public var memory = ByteSize(bytes: 0)

    public init() {}
}

/// The log.
public struct LoggingSettings: Equatable, Sendable {
    public enum Level: String, CaseIterable, Sendable {
        case debug
        case info
        case warning
        case error
    }

    public enum Format: String, CaseIterable, Sendable {
        case auto
        case json
        case text
    }

    public var level = Level.info
    public var format = Format.auto

    public init() {}
}

extension LoggingSettings.Level: ChoiceValue {}
extension LoggingSettings.Format: ChoiceValue {}

/// Who may read the metrics where the admin listener is not on loopback.
public struct MetricsSettings: Equatable, Sendable {
    public var token = Secret("")
    public var networks: [IPNetwork] = []

    public init() {}
}

/// Going away without hurting anybody.
public struct DrainSettings: Equatable, Sendable {
    public var grace = Duration.seconds(5)
    public var timeout = Duration.seconds(1800)
    public var closesPerSecond = 10
    public var takeOverTimeout = Duration.seconds(86_400)

    public init() {}
}

/// Threads.
public struct WorkerSettings: Equatable, Sendable {
    public var count = 0
    public var verifiers = 1

    public init() {}
}
