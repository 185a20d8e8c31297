import Settings

extension ConfigurationTable {
    static let platform: [Section] = [
        Section(
            "platform", "The region and account in our ARNs.",
            [
                Key("platform.region", \.platform.region, .restart, "The region: a to z, 0 to 9 and -."),
                Key("platform.account", \.platform.account, .restart, "The account, 12 digits."),
            ]),
        Section(
            "tokens", "Participant tokens.",
            [
                Key(
                    "tokens.endpointCheck", \.tokens.endpointCheck, .live,
                    "Whether a token's events_url and whip_url must be endpoints of ours; lenient while moving from another service."
                )
            ]),
        Section(
            "quotas", "How many may exist; beyond it ServiceQuotaExceededException.",
            [
                Key("quotas.stages", \.quotas.stages, .live, in: 1...1_000_000, "Stages."),
                Key(
                    "quotas.ingestConfigurations", \.quotas.ingestConfigurations, .live, in: 1...1_000_000,
                    "Ingest configurations."),
                Key("quotas.publicKeys", \.quotas.publicKeys, .live, in: 1...1000, "Imported public keys."),
                Key(
                    "quotas.storageConfigurations", \.quotas.storageConfigurations, .live, in: 1...1000,
                    "Storage configurations."),
                Key("quotas.publishersPerStage", \.quotas.publishersPerStage, .restart, in: 1...1000, "Publishers on one stage."),
                Key("quotas.publishers", \.quotas.publishers, .restart, in: 1...1_000_000, "Publishers on all stages."),
            ]),
        Section(
            "rates", "API requests a second by access key; beyond it ThrottlingException.",
            [
                Key(
                    "rates.resources", \.rates.resources, .live, in: 1...100_000,
                    "Stages, participants, replication, ingest and storage configurations."),
                Key("rates.tokens", \.rates.tokens, .live, in: 1...100_000, "CreateParticipantToken."),
                Key("rates.publicKeys", \.rates.publicKeys, .live, in: 1...100_000, "Public keys."),
                Key("rates.tags", \.rates.tags, .live, in: 1...100_000, "Tags."),
            ]),
        Section(
            "authorize", "A service of yours that is asked before anybody publishes; without a URL nobody is asked.",
            [
                Key("authorize.url", \.authorize.url, .restart, "HTTP or HTTPS URL that gets a POST."),
                Key("authorize.secret", \.authorize.secret, .restart, "Key of the HMAC that signs it."),
                Key(
                    "authorize.timeout", \.authorize.timeout, .restart, in: .milliseconds(100) ... .seconds(10),
                    "Time limit for its answer."),
                Key(
                    "authorize.cache", \.authorize.cache, .restart, in: .seconds(0) ... .seconds(3600),
                    "How long its yes or no holds for a credential."),
                Key("authorize.onFailure", \.authorize.onFailure, .restart, "What happens when it does not answer."),
            ]),
        Section(
            "events", "The history of sessions and events.",
            [
                Key(
                    "events.retention", \.events.retention, .restart, in: .seconds(60) ... .seconds(366 * 86_400),
                    "How long sessions, participants and events are kept.")
            ]),
        Section(ConfigurationMap("webhooks", \.webhooks, example: "studio", "Receivers of events by name.")),
        Section(
            "store", "Where state is kept.",
            [
                Key("store.directory", \.store.directory, .restart, "The data directory; `serve --data` overrides it.")
            ]),
    ]
}

extension WebhookSettings: MapEntry {
    static let keys: [ConfigurationKey<WebhookSettings>] = [
        ConfigurationKey("url", \.url, .restart, "URL that gets a POST for each event."),
        ConfigurationKey("secret", \.secret, .restart, "Key of the HMAC that signs it."),
        ConfigurationKey("timeout", \.timeout, .restart, in: .milliseconds(100) ... .seconds(60), "Time limit for its answer."),
        ConfigurationKey(
            "certificateAuthority", \.certificateAuthority, .restart, "PEM file that its certificate must descend from."),
    ]
}
