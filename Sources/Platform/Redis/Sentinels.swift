/// The sentinels of one primary.
struct Sentinels {
    /// What they call it.
    let primary: String
    let endpoints: [RedisEndpoint]
    let credential: RedisCredential?

    /// How sentinels are spoken to: their password is not the primary's.
    func settings(from settings: RedisSettings) -> RedisSettings {
        var own = settings
        own.credential = credential
        return own
    }
}
