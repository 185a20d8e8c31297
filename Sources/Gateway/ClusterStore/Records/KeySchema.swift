import Store

/// The names of everything that the store keeps in Redis; docs/cluster-schema.md is their description.
///
/// What is in braces decides the slot of a Redis Cluster (hash tag), and so what a script can change at once.
struct KeySchema: Sendable {
    /// The sets that list records by their kind; placements, revocations and replications are found by their stage.
    enum Index: String, CaseIterable {
        case stages, ingests, keys, storages, settings
    }

    /// An entry of a list.
    struct Listing: Hashable {
        var index: Index
        var member: String
    }

    let prefix: String

    init(prefix: String) { self.prefix = prefix }

    // MARK: Configuration

    func record(_ id: Record.ID) -> String {
        switch id {
        case .stage(let arn): stage(ResourceName.identifier(inARN: arn))
        case .ingestConfiguration(let arn): ingest(ResourceName.identifier(inARN: arn))
        case .publicKey(let arn): publicKey(ResourceName.identifier(inARN: arn))
        case .storageConfiguration(let arn): storage(ResourceName.identifier(inARN: arn))
        case .placement(let key): ofStage(key.stageID, "placement:\(key.replica)")
        case .replication(let key):
            ofStage(
                ResourceName.identifier(inARN: key.sourceStageARN),
                "replication:\(key.participantID):\(ResourceName.identifier(inARN: key.destinationStageARN))")
        case .revocation(let arn, let participantID):
            ofStage(ResourceName.identifier(inARN: arn), "revocation:\(participantID)")
        case .setting(let name): setting(name)
        }
    }

    func stage(_ id: String) -> String { ofStage(id, "stage") }
    func ingest(_ id: String) -> String { "\(prefix){\(id)}:ingest" }
    func publicKey(_ id: String) -> String { "\(prefix){\(id)}:publickey" }
    func storage(_ id: String) -> String { "\(prefix){\(id)}:storage" }
    func setting(_ name: String) -> String { "\(prefix){settings}:\(name)" }

    /// The records of a stage beside itself: set of their keys, in the stage's slot.
    func members(ofStage id: String) -> String { ofStage(id, "members") }

    func index(_ index: Index) -> String { "\(prefix){index}:\(index.rawValue)" }

    /// What an index lists to find this record; nil for records that are found by their stage.
    func listing(_ id: Record.ID) -> Listing? {
        switch id {
        case .stage(let arn): Listing(index: .stages, member: ResourceName.identifier(inARN: arn))
        case .ingestConfiguration(let arn): Listing(index: .ingests, member: ResourceName.identifier(inARN: arn))
        case .publicKey(let arn): Listing(index: .keys, member: ResourceName.identifier(inARN: arn))
        case .storageConfiguration(let arn): Listing(index: .storages, member: ResourceName.identifier(inARN: arn))
        case .setting(let name): Listing(index: .settings, member: name)
        case .placement, .revocation, .replication: nil
        }
    }

    /// The key of what a list names.
    func record(_ listing: Listing) -> String {
        switch listing.index {
        case .stages: stage(listing.member)
        case .ingests: ingest(listing.member)
        case .keys: publicKey(listing.member)
        case .storages: storage(listing.member)
        case .settings: setting(listing.member)
        }
    }

    /// What lists the record with this key; nil for keys that are no record of an index.
    func listing(ofKey key: String) -> Listing? {
        guard let (tag, rest) = split(key) else { return nil }
        if tag == "settings" { return Listing(index: .settings, member: rest) }
        let index: Index? =
            switch rest {
            case "stage": .stages
            case "ingest": .ingests
            case "publickey": .keys
            case "storage": .storages
            default: nil
            }
        return index.map { Listing(index: $0, member: tag) }
    }

    /// The hash tag of one of our keys: keys with the same one can be changed together.
    func tag(_ key: String) -> String { split(key)?.tag ?? key }

    private func split(_ key: String) -> (tag: String, rest: String)? {
        guard key.hasPrefix(prefix + "{"), let end = key.firstIndex(of: "}") else { return nil }
        let start = key.index(key.startIndex, offsetBy: prefix.count + 1)
        guard start <= end else { return nil }
        return (String(key[start..<end]), String(key[end...].dropFirst(2)))
    }

    // MARK: What nodes tell each other

    /// Which cluster this is and with which key it is encrypted.
    var check: String { "\(prefix){platform}:check" }
    /// The stream of commits.
    var changes: String { "\(prefix){changes}" }
    /// The channel that says that `changes` has grown.
    var changesChannel: String { "\(prefix)changes" }

    // MARK: History

    /// The stream of all stages' events.
    var events: String { "\(prefix){events}" }
    /// How far each node's queue has come in `events`.
    var eventsForwarded: String { "\(prefix){events}:forwarded" }
    /// The channel that says that `events` has grown.
    var eventsChannel: String { "\(prefix)events" }

    func sessions(ofStage id: String) -> String { ofStage(id, "sessions") }
    func session(_ session: String, ofStage id: String) -> String { ofStage(id, "session:\(session)") }
    func participants(ofStage id: String, session: String) -> String { ofStage(id, "session:\(session):participants") }
    func events(ofStage id: String, session: String, participantID: String) -> String {
        ofStage(id, "session:\(session):events:\(participantID)")
    }
    /// The one that runs, as the leases know it (Gateway/Cluster).
    func runningSession(ofStage id: String) -> String { ofStage(id, "session") }
    /// The prefix of the participant's latest recording that another node may go on with.
    func latestRecording(ofStage id: String, participantID: String) -> String { ofStage(id, "recording:\(participantID)") }
    /// The journal of the recording with that prefix.
    func journal(ofStage id: String, prefix: String) -> String { ofStage(id, "journal:\(prefix)") }
    /// How far each node's queue has come in this stage.
    func forwarded(ofStage id: String) -> String { ofStage(id, "forwarded") }
    /// Participants that ever were in one of the stage's sessions.
    func known(ofStage id: String) -> String { ofStage(id, "known") }

    // MARK: Metrics

    /// Points of an hour, by the write that brought them.
    func metrics(ofStage id: String, hour: Int32) -> String { ofStage(id.isEmpty ? "platform" : id, "metrics:\(hour)") }
    /// A stage's series by the last minute with points.
    func metricSeries(ofStage id: String) -> String { ofStage(id.isEmpty ? "platform" : id, "metrics") }
    /// Whom a stage's points tell of: its running session, and all of its sessions.
    func sessionsHeard(ofStage id: String) -> [String] {
        let id = id.isEmpty ? "platform" : id
        return [runningSession(ofStage: id), sessions(ofStage: id)]
    }
    /// Stages with series, by the last minute.
    var metricStages: String { "\(prefix){metrics}:stages" }

    private func ofStage(_ id: String, _ rest: String) -> String { "\(prefix){\(id)}:\(rest)" }
}
