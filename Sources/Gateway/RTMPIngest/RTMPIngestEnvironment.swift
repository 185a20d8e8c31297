public import Admission
public import GatewayMetrics
public import Monitoring
public import Sockets

/// What all workers' RTMP front ends share.
public struct RTMPIngestEnvironment: Sendable {
    public var settings: RTMPIngestSettings
    public var authorizer: any Authorizer
    public var leases: any PublishLeases
    public var reports: (any PublishReports)?
    /// Told of refusals; the publication's host follows publishes there.
    public var board: SessionBoard?
    public var admission: ConnectionAdmission
    public var heldAttempts = HeldAttempts()
    public var metrics: MetricsRegistry

    public init(
        settings: RTMPIngestSettings, authorizer: any Authorizer, leases: any PublishLeases,
        reports: (any PublishReports)? = nil, metrics: MetricsRegistry, trust: AddressTrust? = nil
    ) {
        (self.settings, self.authorizer, self.leases) = (settings, authorizer, leases)
        (self.reports, self.metrics) = (reports, metrics)
        admission = ConnectionAdmission(
            maximumCount: settings.maximumUnauthenticatedConnections,
            maximumPerAddress: settings.maximumUnauthenticatedPerAddress, trust: trust)
    }
}
