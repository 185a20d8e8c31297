import Settings

extension ConfigurationTable {
    static let storage = Section(
        ConfigurationMap(
            "storage", \.storage, example: "recordings",
            "Buckets that recordings may be written to, by name: those that CreateStorageConfiguration takes."))
}

extension StorageSettings: MapEntry {
    static let keys: [ConfigurationKey<StorageSettings>] = [
        ConfigurationKey(
            "directory", \.directory, .live, "A folder of this machine in place of a store; empty: a store that speaks S3."),
        ConfigurationKey("bucket", \.bucket, .live, "The bucket's name where it has a dot; empty: as this entry is called."),
        ConfigurationKey("endpoint", \.endpoint, .live, "HTTP or HTTPS URL of the store; empty: AWS' own in that region."),
        ConfigurationKey("region", \.region, .live, "The region that requests are signed for."),
        ConfigurationKey(
            "accessKey", \.accessKey, .live,
            "Access key id; empty: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment."),
        ConfigurationKey("secretKey", \.secretKey, .live, "Its secret."),
        ConfigurationKey(
            "pathStyle", \.pathStyle, .live,
            "Write the bucket into the path (https://host/bucket/key), not before the host: most stores other than AWS need it."),
        ConfigurationKey(
            "certificateAuthority", \.certificateAuthority, .live,
            "PEM file that the store's certificate must descend from; empty: the system's."),
    ]
}
