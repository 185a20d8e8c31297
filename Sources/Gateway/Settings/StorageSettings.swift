public import Wire

/// A bucket that recordings may be written to: in a store that speaks S3, or a folder of this machine.
///
/// Its name among the settings is the bucket's, unless `bucket` says otherwise.
public struct StorageSettings: Equatable, Sendable {
    /// A folder that stands for the bucket; empty for S3.
    public var directory = ""
    /// The bucket's name where no key of the file can be called so, because it has a dot.
    public var bucket = ""
    /// The store's HTTP or HTTPS URL; empty: AWS' own in `region`.
    public var endpoint = ""
    /// As the signature names it.
    public var region = "us-east-1"
    /// The access key's id. Without it, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment.
    public var accessKey = ""
    public var secretKey = Secret("")
    /// Whether the bucket stands in the path (`https://host/bucket/key`), not before the host.
    public var pathStyle = false
    /// A PEM file of who may sign the store's certificate; empty for the system's.
    public var certificateAuthority = ""

    public init() {}

    /// A folder in place of a store.
    public init(directory: String) { self.directory = directory }
}

extension [String: StorageSettings] {
    /// The bucket of that name, whatever it is called in the file.
    public func bucket(_ name: String) -> StorageSettings? {
        values.first { $0.bucket == name } ?? self[name].flatMap { $0.bucket.isEmpty ? $0 : nil }
    }
}
