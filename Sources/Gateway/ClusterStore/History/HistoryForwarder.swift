import JSON
import Redis
import StageMetrics
import Store
import Wire

/// Brings a node's history to the database, one write after the other.
struct HistoryForwarder {
    /// Entries of the stream of all events, about.
    static let maximumEvents = 100_000
    /// Participants of one session that never published and have left, about.
    static let maximumFormerViewers = 5_000
    /// A session that nothing is heard of for this long, and whose end nobody wrote, counts as ended.
    static let longestSilence = Duration.seconds(30 * 86_400)

    let server: any DatabaseServer
    let schema: KeySchema
    let retention: Duration

    /// Where a write comes from, and how many came before it.
    struct Origin {
        var queue: String
        var sequence: Int64
    }

    /// - Returns: what this node's receivers are told: an event that the database took, or those that it derived.
    func forward(_ write: HistoryWrite, from origin: Origin, now: WallTime) throws(StoreError) -> [ParticipantEvent] {
        switch write {
        case .sessionBegan(let session): try forward(session, hasBegun: true, origin, now)
        case .sessionEnded(let stageARN, let sessionID, let time):
            try forward(
                StageSession(stageARN: stageARN, sessionID: sessionID, startTime: time, endTime: time), hasBegun: false, origin,
                now)
        case .participant(let participant): try forward(participant, origin, now)
        case .event(let event): return try forward(event, origin)
        case .recording(let recording, let stageARN, let sessionID, let participantID):
            _ = try server.run(
                HistoryScript.recording, keys(SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID)),
                arguments(origin, participantID, generation: 0) + [RedisArgument(HistoryCodec.encode(recording))])
        case .replication(let replication, let stageARN, let sessionID, let participantID):
            _ = try server.run(
                HistoryScript.replication, keys(SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID)),
                arguments(origin, participantID, generation: 0) + [RedisArgument(HistoryCodec.encode(replication))])
        case .journal(let line): try forward(line, origin)
        case .closed(let stageARN, let sessionID, let participantID, let generation, let time):
            let participant = SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID)
            let event = ParticipantEvent(name: .left, time: time, of: participant, userID: "", generation: generation)
            return try close(event, origin)
        case .wasTest(let stageARN, let sessionID, let participantID, let generation):
            try forget(SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID), generation, origin)
        case .metrics(let samples): try forward(samples, origin, now)
        case .delivered, .forwarded: break
        }
        return []
    }

    /// Written again, a write replaces itself: each has a field of its own.
    private func forward(_ samples: [MetricSample], _ origin: Origin, _ now: WallTime) throws(StoreError) {
        guard let first = samples.first, let newest = samples.map(\.point.minute).max() else { return }
        let (stage, hour) = (first.series.stageID, newest / MetricCodec.minutesOfHour)
        let oldest = MetricPoint.minute(of: now) - MetricRetention.minutes
        _ = try server.run(
            HistoryScript.metrics,
            [schema.metrics(ofStage: stage, hour: hour), schema.metricSeries(ofStage: stage)]
                + schema.sessionsHeard(ofStage: stage),
            [
                RedisArgument("\(origin.queue):\(origin.sequence)"), RedisArgument(MetricCodec.encode(samples)),
                RedisArgument(Int64(MetricRetention.minutes + MetricCodec.minutesOfHour) * 60), RedisArgument(Int64(newest)),
                RedisArgument(Int64(oldest)), RedisArgument(lifetimeOfRunning.wholeSeconds),
            ] + samples.map { RedisArgument($0.series.path) })
        _ = try server.ask(
            [
                .command(
                    RedisCommand(
                        "ZADD", RedisArgument(schema.metricStages), RedisArgument(Int64(newest)), RedisArgument("/\(stage)")),
                    key: schema.metricStages),
                .command(
                    RedisCommand("ZREMRANGEBYSCORE", RedisArgument(schema.metricStages), "-inf", RedisArgument("(\(oldest)")),
                    key: schema.metricStages),
            ])
    }

    private func forward(_ session: StageSession, hasBegun: Bool, _ origin: Origin, _ now: WallTime) throws(StoreError) {
        let stageID = ResourceName.identifier(inARN: session.stageARN)
        let start = session.startTime.nanosecondsSince1970
        _ = try server.run(
            HistoryScript.session,
            [
                schema.forwarded(ofStage: stageID), schema.sessions(ofStage: stageID),
                schema.session(session.sessionID, ofStage: stageID),
                schema.participants(ofStage: stageID, session: session.sessionID), schema.runningSession(ofStage: stageID),
            ],
            origin.arguments + [
                RedisArgument(session.sessionID), RedisArgument(hasBegun ? "\(start / 1_000)" : ""),
                RedisArgument(hasBegun ? "\(start)" : ""),
                RedisArgument(session.endTime.map { "\($0.nanosecondsSince1970)" } ?? ""),
                RedisArgument((session.endTime == nil ? lifetimeOfRunning : retention).wholeSeconds),
                RedisArgument(oldest(now)),
            ])
    }

    private func forward(_ participant: Participant, _ origin: Origin, _ now: WallTime) throws(StoreError) {
        let known = schema.known(ofStage: ResourceName.identifier(inARN: participant.stageARN))
        _ = try server.run(
            HistoryScript.participant, keys(participant.place) + [known],
            arguments(origin, participant.participantID, generation: participant.generation ?? 0) + [
                participant.isConnected ? "1" : "0", participant.published ? "1" : "0",
                RedisArgument(HistoryCodec.encode(participant)), RedisArgument(now.nanosecondsSince1970 / 1_000),
                RedisArgument(oldest(now)), RedisArgument(participant.node ?? ""), RedisArgument(Self.maximumFormerViewers),
            ])
    }

    private func forward(_ event: ParticipantEvent, _ origin: Origin) throws(StoreError) -> [ParticipantEvent] {
        // Nobody asks for one participant's of what the API model does not know: it would push the history out.
        let body = ParticipantEvent.Name.unmodelled.contains(event.name) ? "" : HistoryCodec.encode(event, isWhole: false)
        let outcome = try server.run(
            HistoryScript.event, keys(event.place),
            arguments(origin, event.participantID, generation: event.generation) + [
                RedisArgument(event.name.rawValue), RedisArgument(body), RedisArgument(event.remoteParticipantID),
            ])
        if outcome.text == "1" { try announce([event], origin) }
        // Null: it was brought before and others followed. Receivers rather hear of it twice than never.
        // What an earlier version queued has no number: it told its receivers at once.
        return (outcome.text == "1" || outcome.isNull) && event.sequence > 0 ? [event] : []
    }

    private func forward(_ line: JournalLine, _ origin: Origin) throws(StoreError) {
        let stageID = ResourceName.identifier(inARN: line.stageARN)
        _ = try server.run(
            HistoryScript.journal,
            [
                schema.forwarded(ofStage: stageID), schema.latestRecording(ofStage: stageID, participantID: line.participantID),
                schema.journal(ofStage: stageID, prefix: line.prefix),
            ],
            origin.arguments + [
                RedisArgument(line.prefix), RedisArgument(lifetimeOfRunning.wholeSeconds), RedisArgument(line.kind.rawValue),
                RedisArgument(line.node), RedisArgument(line.text),
            ])
    }

    /// A publish was a network test: no list has it, unless its participant did more in the session.
    private func forget(_ participant: SessionParticipant, _ generation: UInt64, _ origin: Origin) throws(StoreError) {
        let (stageID, sessionID) = (ResourceName.identifier(inARN: participant.stageARN), participant.sessionID)
        _ = try server.run(
            HistoryScript.wasTest,
            keys(participant) + [schema.sessions(ofStage: stageID), schema.session(sessionID, ofStage: stageID)],
            arguments(origin, participant.participantID, generation: generation) + [RedisArgument(sessionID)])
    }

    /// - Parameter event: the LEFT that follows; its user is known to the database only, as are those who watched through a node.
    private func close(_ event: ParticipantEvent, _ origin: Origin) throws(StoreError) -> [ParticipantEvent] {
        let outcome =
            try server.run(
                HistoryScript.closed, keys(event.place),
                arguments(origin, event.participantID, generation: event.generation) + [
                    RedisArgument(event.time.nanosecondsSince1970)
                ]
            ).text ?? ""
        let events = outcome.split(separator: "\n").flatMap { Self.events(ofLine: $0, like: event) }
        if !events.isEmpty { try announce(events, origin) }
        return events
    }

    /// - Parameter line: participant, names of events with whom it watched behind a colon, user as JSON; of an outcome that an
    ///   older version left, the user as it is.
    private static func events(ofLine line: Substring, like event: ParticipantEvent) -> [ParticipantEvent] {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return [] }
        let user = (try? JSONValue(parsing: parts[2]))?.string ?? String(parts[2])
        return parts[1].split(separator: ",").compactMap { word in
            let words = word.split(separator: ":", maxSplits: 1)
            guard let name = words.first.flatMap({ ParticipantEvent.Name(rawValue: String($0)) }) else { return nil }
            var event = event
            (event.name, event.participantID, event.userID) = (name, String(parts[0]), user)
            event.remoteParticipantID = words.count > 1 ? String(words[1]) : ""
            return event
        }
    }

    private func announce(_ events: [ParticipantEvent], _ origin: Origin) throws(StoreError) {
        _ = try server.run(
            HistoryScript.append, [schema.events, schema.eventsForwarded],
            origin.arguments + [RedisArgument(Self.maximumEvents), RedisArgument(schema.eventsChannel)]
                + events.map { RedisArgument(HistoryCodec.encode($0, isWhole: true)) })
    }
}

extension HistoryForwarder {
    private var lifetimeOfRunning: Duration { retention + Self.longestSilence }

    /// What began before this moment may be forgotten, in µs since 1970.
    private func oldest(_ now: WallTime) -> Int64 { (now + (.zero - lifetimeOfRunning)).nanosecondsSince1970 / 1_000 }

    private func keys(_ participant: SessionParticipant) -> [String] {
        let (id, session) = (ResourceName.identifier(inARN: participant.stageARN), participant.sessionID)
        return [
            schema.forwarded(ofStage: id), schema.participants(ofStage: id, session: session),
            schema.events(ofStage: id, session: session, participantID: participant.participantID),
        ]
    }

    private func arguments(_ origin: Origin, _ participantID: String, generation: UInt64) -> [RedisArgument] {
        origin.arguments + [
            RedisArgument(participantID), RedisArgument(lifetimeOfRunning.wholeSeconds), RedisArgument(generation),
        ]
    }
}

extension HistoryForwarder.Origin {
    fileprivate var arguments: [RedisArgument] { [RedisArgument(queue), RedisArgument(sequence)] }
}

extension Duration {
    fileprivate var wholeSeconds: Int64 { max(1, components.seconds) }
}
