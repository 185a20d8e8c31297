public import Wire

/// What strangers may cost.
public struct LimitSettings: Equatable, Sendable {
    /// Connections of the whole process that have shown nothing of themselves yet, by each way in.
    public var unauthenticatedConnections = 2000
    /// Connections of one IPv4 address or IPv6 /64. HTTP and HTTPS count all, each worker for itself; every other way in counts,
    /// for the whole process, those that do not publish or are not known yet.
    public var connectionsPerAddress = 64
    /// Wrong tokens of one source after which it is refused without work, until its minute is over.
    public var failuresPerMinute = 20

    // Without a key in the file.

    /// Tokens of one source that may wait to be verified, beside the one in work.
    public var waitingPerSource = 4

    public init() {}
}

/// When new publishes are refused so that live ones do not suffer.
public struct OverloadSettings: Equatable, Sendable {
    /// 0: no bound.
    public var maximumPublishers = 0
    /// Percent of the granted CPUs.
    public var cpu = 90
    /// Lateness of event loops.
    public var loopLag = Duration.milliseconds(100)
    /// Percent of the limit.
    public var descriptors = 80
    /// Resident; 0: nine tenths of what the control group may have, for all that is in it.
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

    /// The least level written.
    public var level = Level.info
    /// auto: text on a terminal, else json.
    public var format = Format.auto

    public init() {}
}

/// Who may read the metrics where the admin listener is not on loopback.
public struct MetricsSettings: Equatable, Sendable {
    /// Bearer token.
    public var token = Secret("")
    /// Networks that need none.
    public var networks: [IPNetwork] = []

    public init() {}
}

/// Going away without hurting anybody.
public struct DrainSettings: Equatable, Sendable {
    /// Balancers see that the node is not ready; publishes are still taken.
    public var grace = Duration.seconds(5)
    /// Live streams may go on for so long, counted from the beginning.
    public var timeout = Duration.seconds(1800)
    /// Streams ended per second after that, 1 or more.
    public var closesPerSecond = 10
    /// Streams may outlive a take-over for so long.
    public var takeOverTimeout = Duration.seconds(86_400)

    public init() {}

    public init(grace: Duration, timeout: Duration, closesPerSecond: Int) {
        (self.grace, self.timeout, self.closesPerSecond) = (grace, timeout, closesPerSecond)
    }
}

/// Threads.
public struct WorkerSettings: Equatable, Sendable {
    /// Media threads; 0: the CPUs that the control group grants.
    public var count = 0
    /// Threads that verify tokens.
    public var verifiers = 1
    /// How long a media thread with many streams lets packets gather, which costs so much latency; zero: each is served at once.
    public var rest = Duration.milliseconds(1)

    public init() {}
}
