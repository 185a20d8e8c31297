import Redis
import Store
import Wire

/// The history of a cluster, as Redis has it. Every question waits for its answer on the store's thread.
struct ClusterHistory: HistoryReading {
    let server: any DatabaseServer
    let schema: KeySchema
    /// As this node has it.
    var state = StoreState()

    func sessions(ofStage arn: String, after: (startTime: WallTime, sessionID: String)?, limit: Int) throws -> [StageSession] {
        let stageID = stageID(inARN: arn)
        let key = schema.sessions(ofStage: stageID)
        let found = try identifiers(after: after, limit: limit, key: key)
        let questions = found.map { id in
            let key = schema.session(id, ofStage: stageID)
            return Question.command(RedisCommand("HMGET", RedisArgument(key), "start", "end"), key: key)
        }
        return zip(found, try server.ask(questions)).compactMap { Self.session($0, stageARN: arn, $1) }
    }

    func session(_ sessionID: String, ofStage arn: String) throws -> StageSession? {
        let key = schema.session(sessionID, ofStage: stageID(inARN: arn))
        return Self.session(
            sessionID, stageARN: arn, try server.ask(RedisCommand("HMGET", RedisArgument(key), "start", "end"), key: key))
    }

    func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter, after: String, limit: Int
    ) throws -> [Participant] {
        let key = schema.participants(ofStage: stageID(inARN: arn), session: sessionID)
        let fields = try server.ask(RedisCommand("HGETALL", RedisArgument(key)), key: key).elements ?? []
        let participants = stride(from: 0, to: fields.count - 1, by: 2).compactMap { start -> Participant? in
            guard let id = fields[start].text, id > after, let text = fields[start + 1].text else { return nil }
            return HistoryCodec.participant(text, SessionParticipant(id, ofStage: arn, sessionID: sessionID))
        }
        return Array(participants.filter(filter.matches).sorted { $0.participantID < $1.participantID }.prefix(limit))
    }

    func participant(_ participant: SessionParticipant) throws -> Participant? {
        let key = schema.participants(ofStage: stageID(inARN: participant.stageARN), session: participant.sessionID)
        let question = RedisCommand("HGET", RedisArgument(key), RedisArgument(participant.participantID))
        return try server.ask(question, key: key).text.flatMap { HistoryCodec.participant($0, participant) }
    }

    func knows(participant participantID: String, ofStage arn: String) throws -> Bool {
        let key = schema.known(ofStage: stageID(inARN: arn))
        return try !server.ask(RedisCommand("ZSCORE", RedisArgument(key), RedisArgument(participantID)), key: key).isNull
    }

    /// The numbers are places in the participant's list, not those of all events. A node that was cut off brings what happened
    /// late: the whole list, which is bounded, is put in order.
    func events(of participant: SessionParticipant, after: Int64, limit: Int) throws -> [ParticipantEvent] {
        let key = schema.events(
            ofStage: stageID(inARN: participant.stageARN), session: participant.sessionID,
            participantID: participant.participantID)
        let found = try server.ask(RedisCommand("LRANGE", RedisArgument(key), "0", "-1"), key: key).elements ?? []
        let events = found.enumerated().compactMap { index, value in
            HistoryCodec.event(value.text ?? "", sequence: Int64(index), of: participant)
        }
        let inOrder = events.sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
        // Clients say where to go on, in the token of a page: it may be any number.
        return inOrder.enumerated().dropFirst(Int(clamping: max(0, after))).prefix(limit).map { place, event in
            var event = event
            event.sequence = Int64(place) + 1
            return event
        }
    }

    func events(after: Int64, limit: Int) throws -> [ParticipantEvent] {
        // `Last-Event-ID` may be any number, too.
        guard after < .max else { return [] }
        let next = EventNumber(sequence: after + 1)
        let command = RedisCommand(
            "XRANGE", RedisArgument(schema.events), RedisArgument(next.streamID), "+", "COUNT", RedisArgument(limit))
        return try server.ask(command, key: schema.events).elements?.compactMap(Self.event) ?? []
    }

    func lastSequence() throws -> Int64 {
        let command = RedisCommand("XREVRANGE", RedisArgument(schema.events), "+", "-", "COUNT", "1")
        let newest = try server.ask(command, key: schema.events).elements?.first
        return newest?.elements?.first?.text.flatMap(EventNumber.init)?.sequence ?? 0
    }

    func journal(ofParticipant participantID: String, ofStage arn: String, prefix: String?) throws -> ClusterJournal? {
        // The register of recordings names every stage by its own region and account.
        let stageID = ResourceName.identifier(inARN: arn)
        let latest = schema.latestRecording(ofStage: stageID, participantID: participantID)
        guard let prefix = try prefix ?? server.ask(RedisCommand("GET", RedisArgument(latest)), key: latest).text else {
            return nil
        }
        let key = schema.journal(ofStage: stageID, prefix: prefix)
        let lines = try lines(of: key).map { $0.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false) }
        guard let last = lines.last, last.count == 3 else { return nil }
        return ClusterJournal(
            prefix: prefix, node: String(last[1]), isClosed: last[0] == JournalLine.Kind.closes.rawValue,
            texts: lines.compactMap { $0.last.map(String.init) })
    }

    /// A day's recording has tens of thousands.
    private func lines(of journal: String) throws -> [String] {
        var lines: [String] = []
        while lines.count < Self.maximumLines {
            let (first, last) = (Int64(lines.count), Int64(lines.count + Self.linesAtATime - 1))
            let command = RedisCommand("LRANGE", RedisArgument(journal), RedisArgument(first), RedisArgument(last))
            let found = try server.ask(command, key: journal).elements?.compactMap(\.text) ?? []
            lines += found
            if found.count < Self.linesAtATime { return lines }
        }
        throw StoreError.failed(reason: "a recording's journal does not end: it has \(lines.count) lines")
    }

    static let linesAtATime = 1_000
    private static let maximumLines = 1 << 20

    func undelivered(to target: String, after: Int64, limit: Int) throws -> [ParticipantEvent] { throw Self.undeliveredElsewhere }

    func undelivered(
        to target: String, of participant: StageParticipant, in numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [ParticipantEvent] { throw Self.undeliveredElsewhere }

    private static let undeliveredElsewhere =
        StoreError.failed(reason: "what receivers have not taken is known to the node that recorded it")
}

extension ClusterHistory {
    /// By which the servers keep the history of a stage. An ARN of another region or account may end with the same id: there is
    /// nothing by such a name.
    private func stageID(inARN arn: String) -> String {
        let id = ResourceName.identifier(inARN: arn)
        return state.stage(ofID: id)?.arn ?? arn == arn ? id : arn
    }

    private func identifiers(
        after: (startTime: WallTime, sessionID: String)?, limit: Int, key: String
    ) throws(StoreError) -> [String] {
        var first: Int64 = 0
        if let after {
            let rank = try server.ask(RedisCommand("ZREVRANK", RedisArgument(key), RedisArgument(after.sessionID)), key: key)
            guard let rank = rank.integer, Self.ranks.contains(rank) else {
                return try olderIdentifiers(than: after.startTime, limit: limit, key: key)
            }
            first = rank + 1
        }
        let command = RedisCommand(
            "ZREVRANGE", RedisArgument(key), RedisArgument(first), RedisArgument(first + Int64(limit) - 1))
        return try server.ask(command, key: key).elements?.compactMap(\.text) ?? []
    }

    /// A sorted set has no more members.
    private static let ranks: Range<Int64> = 0..<1 << 32

    /// For a page that begins after a session that has expired meanwhile.
    private func olderIdentifiers(than time: WallTime, limit: Int, key: String) throws(StoreError) -> [String] {
        let command = RedisCommand(
            "ZREVRANGEBYSCORE", RedisArgument(key), RedisArgument("(\(time.nanosecondsSince1970 / 1_000)"), "-inf", "LIMIT",
            "0", RedisArgument(limit))
        return try server.ask(command, key: key).elements?.compactMap(\.text) ?? []
    }

    /// From start and end in nanoseconds; nil for a session that is not there.
    private static func session(_ id: String, stageARN: String, _ value: RedisValue) -> StageSession? {
        guard let fields = value.elements, fields.count == 2, let start = fields[0].integer, start >= 0 else { return nil }
        return StageSession(
            stageARN: stageARN, sessionID: id, startTime: WallTime(nanosecondsSince1970: start),
            endTime: fields[1].integer.map { WallTime(nanosecondsSince1970: $0) })
    }

    private static func event(_ value: RedisValue) -> ParticipantEvent? {
        guard let parts = value.elements, parts.count == 2, let id = parts[0].text.flatMap(EventNumber.init),
            let text = parts[1].elements?.last?.text
        else { return nil }
        return HistoryCodec.event(text, sequence: id.sequence)
    }
}

/// The number of an event among all, which is the stream's: milliseconds and how many came before in that one.
struct EventNumber: Equatable {
    /// Events of one millisecond, in bits.
    private static let bits = 20

    var sequence: Int64

    init(sequence: Int64) { self.sequence = sequence }

    init?(_ streamID: String) {
        let parts = streamID.split(separator: "-").map { Int64($0) }
        guard parts.count == 2, let time = parts[0], let count = parts[1], count < 1 << Self.bits else { return nil }
        sequence = time << Self.bits | count
    }

    var streamID: String { "\(sequence >> Self.bits)-\(sequence & (1 << Self.bits - 1))" }
}

extension ParticipantFilter {
    fileprivate func matches(_ participant: Participant) -> Bool {
        switch self {
        case .none: true
        // Byte by byte, as SQLite does.
        case .userID(let id): participant.userID.utf8.elementsEqual(id.utf8)
        case .published(let flag): participant.published == flag
        case .connected(let flag): participant.isConnected == flag
        case .recording(let state): participant.recording?.state == state
        }
    }
}
