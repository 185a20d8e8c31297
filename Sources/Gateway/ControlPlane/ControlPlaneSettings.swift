public import Store
public import Wire

/// What the control API grants, from configuration.
public struct ControlPlaneSettings: Sendable {
    /// Who may sign requests.
    public struct AccessKey: Sendable {
        public var id: String
        public var secret: Secret
        /// May Get and List only.
        public var isReadOnly: Bool

        public init(id: String, secret: Secret, isReadOnly: Bool = false) {
            (self.id, self.secret, self.isReadOnly) = (id, secret, isReadOnly)
        }
    }

    /// Requests per second of each operation, for each access key.
    public struct Rates: Sendable {
        public var resources = 5
        public var tokens = 50
        public var publicKeys = 3
        public var tags = 10

        public init() {}
    }

    /// How many resources there may be.
    public struct Quotas: Sendable {
        public var stages = 1_000
        public var ingestConfigurations = 100
        public var publicKeys = 3

        public init() {}
    }

    public var names: ResourceName
    public var endpoints: StageEndpoints
    public var accessKeys: [AccessKey]
    /// False only on a loopback address: then nobody has to sign.
    public var demandsSignature = true
    /// Names that `Host` may have beside loopback ones, without ports.
    public var hosts: Set<String> = []
    public var rates = Rates()
    public var quotas = Quotas()

    public init(names: ResourceName, endpoints: StageEndpoints, accessKeys: [AccessKey]) {
        (self.names, self.endpoints, self.accessKeys) = (names, endpoints, accessKeys)
    }
}
