import EventLoop
import GatewayLogging
import StageHub
import Wire

/// Whose a connection is and what happened on it so far: what logs, the API and the console tell of it.
struct ConnectionStory {
    /// What happens on a connection before a publish is granted.
    enum Step: String { case accepted, handshakeDone, connected, publishRequested, authorized }

    /// The encoder, or what a balancer said of it.
    var source: SocketAddress
    /// What the encoder calls itself.
    private(set) var userAgent = ""
    /// Tells this connection from all others: 16 digits. It is no secret: the kernel's numbers will
    /// do, and OpenSSL's take longer.
    private let sessionID = String(UInt64.random(in: 1 << 60...UInt64.max), radix: 16)
    /// Nobody has shown a valid stream key here yet.
    private var isStranger = true
    private var steps: [PublishStep] = []

    init(of source: SocketAddress) {
        self.source = source
        steps.reserveCapacity(Self.usualStepCount)
        note(.accepted)
    }

    /// A second publish of one connection begins where the first one did.
    mutating func note(_ step: Step) {
        steps.removeAll { $0.name == step.rawValue }
        steps.append(PublishStep(step.rawValue, at: EventLoop.wallNow()))
    }

    mutating func connected(by flashVersion: String) {
        note(.connected)
        userAgent = String(decoding: flashVersion.utf8.prefix(Self.maximumUserAgentByteCount), as: UTF8.self)
    }

    /// The stream key is good.
    mutating func authorized() {
        isStranger = false
        note(.authorized)
    }

    /// Where a publish comes from; the second one of a connection is another session.
    func origin(ofPublish number: UInt64) -> PublishOrigin {
        PublishOrigin(
            sessionID: number == 1 ? sessionID : "\(sessionID)-\(number)", source: source, userAgent: userAgent, steps: steps)
    }

    /// Lines of a connection that has shown no valid stream key are a stranger's, and limited.
    func log(_ level: LogLevel, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        guard isStranger else { return Log.event(level, event.description, ownFields.adding(fields())) }
        Log.strangerEvent(level, event, ownFields.adding(fields()))
    }

    private var ownFields: LogFields { ["session": .string(sessionID), "source": .address(source)] }

    /// Encoders choose its length, and it is kept and logged.
    private static let maximumUserAgentByteCount = 256
    /// Of a connection's first publish.
    private static let usualStepCount = 5
}
