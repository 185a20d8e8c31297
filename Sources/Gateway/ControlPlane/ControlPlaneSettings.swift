public import Settings
public import Store

/// What the control API grants: the settings in force, and what the node adds to them.
public struct ControlPlaneSettings: Sendable {
    public var names: ResourceName
    public var endpoints: StageEndpoints
    /// The operator's, and quickstart's.
    public var accessKeys: [AccessKeySettings]
    public var admin = AdminSettings()
    /// Requests per second of each operation, for each access key.
    public var rates = RateSettings()
    public var quotas = QuotaSettings()

    public init(names: ResourceName, endpoints: StageEndpoints, accessKeys: [AccessKeySettings]) {
        (self.names, self.endpoints, self.accessKeys) = (names, endpoints, accessKeys)
    }
}
