public import Admission
public import GatewayMetrics
public import Monitoring
public import Settings
public import Sockets
public import Wire

/// What all workers' RTMP front ends share.
public struct RTMPIngestEnvironment: Sendable {
    public var settings: RTMPSettings
    /// Balancers that speak for others: they must begin with a PROXY protocol header, version 2.
    public var trustedProxies: [IPNetwork]
    public var authorizer: any Authorizer
    public var leases: any PublishLeases
    public var reports: (any PublishReports)?
    /// Told of refusals; the publication's host follows publishes there.
    public var board: SessionBoard?
    public var admission: ConnectionAdmission
    public var heldAttempts = HeldAttempts()
    public var metrics: MetricsRegistry

    public init(
        settings: RTMPSettings, limits: LimitSettings = LimitSettings(), trustedProxies: [IPNetwork] = [],
        authorizer: any Authorizer, leases: any PublishLeases, reports: (any PublishReports)? = nil, metrics: MetricsRegistry,
        trust: AddressTrust? = nil
    ) {
        (self.settings, self.trustedProxies) = (settings, trustedProxies)
        (self.authorizer, self.leases) = (authorizer, leases)
        (self.reports, self.metrics) = (reports, metrics)
        admission = ConnectionAdmission(
            maximumCount: limits.unauthenticatedConnections, maximumPerAddress: limits.connectionsPerAddress, trust: trust)
    }
}
