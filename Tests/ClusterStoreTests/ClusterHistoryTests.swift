import Admission
import EventLoop
import Foundation
import StageMetrics
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("The history of a platform", .timeLimit(.minutes(10)))
struct ClusterHistoryTests {
    static let arn = ResourceName().arn(.stage, "one")
    static let now = ClusterBench.now

    static func participant(
        _ generation: UInt64?, of id: String = "p", session: String = "st-1", isConnected: Bool = true
    ) -> HistoryWrite {
        var client = ClientAttributes()
        client.sdkVersion = "OBS \"30\""
        var participant = Participant(
            .init(id, ofStage: arn, sessionID: session), userID: "us\u{E9}r \(id)", attributes: ["k": "v/ü"], firstJoinTime: now,
            ingestProtocol: "WHIP", ingestConfigurationARN: "", client: client)
        (participant.isConnected, participant.published, participant.generation) = (isConnected, true, generation)
        return .participant(participant)
    }

    static func event(
        _ name: ParticipantEvent.Name, _ generation: UInt64, of id: String = "p", session: String = "st-1",
        remote: String = "", at offset: Int64 = 0
    ) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: now + .seconds(offset), of: .init(id, ofStage: arn, sessionID: session), userID: "user \(id)",
            errorCode: name == .publishError ? "INSUFFICIENT_CAPABILITIES" : "", generation: generation)
        event.remoteParticipantID = remote
        return .event(event)
    }

    static func began(_ session: String, at offset: Int64 = 0) -> HistoryWrite {
        .sessionBegan(StageSession(stageARN: arn, sessionID: session, startTime: now + .seconds(offset)))
    }

    static func closed(_ generation: UInt64, of id: String = "p", session: String = "st-1") -> HistoryWrite {
        .closed(stageARN: arn, sessionID: session, participantID: id, generation: generation, at: now)
    }

    static func recording(_ state: ParticipantRecording.State, of id: String, began: String = "t") -> HistoryWrite {
        .recording(
            ParticipantRecording(state, bucketName: "recordings", prefix: "one/st-1/\(id)/\(began)"), stageARN: arn,
            sessionID: "st-1", participantID: id)
    }

    static func start(_ generation: UInt64, of id: String = "p") -> [HistoryWrite] {
        [
            began("st-1"), participant(generation, of: id), event(.joined, generation, of: id),
            event(.publishStarted, generation, of: id),
        ]
    }

    static func names(_ node: TestNode, _ id: String = "p") async throws -> [ParticipantEvent.Name] {
        try await node.read { history in
            try history.events(of: .init(id, ofStage: arn, sessionID: "st-1"), limit: 100).map(\.name)
        }
    }

    /// Everything that the control plane asks, as text.
    static func answers(_ history: any HistoryReading) throws -> [String] {
        var answers: [String] = []
        let all = try history.sessions(ofStage: arn, after: nil, limit: 10)
        answers += all.map { "\($0)" }
        answers += try history.sessions(ofStage: arn, after: (all[0].startTime, all[0].sessionID), limit: 1).map { "\($0)" }
        answers.append("\(try history.session("st-1", ofStage: arn).map { "\($0)" } ?? "none")")
        answers.append("\(try history.session("st-9", ofStage: arn) == nil)")
        for filter in [
            ParticipantFilter.none, .userID("us\u{E9}r q"), .userID("use\u{301}r q"), .published(true), .connected(true),
            .connected(false), .recording(.active), .recording(.stopped), .recording(.failed),
        ] {
            answers.append("\(try history.participants(ofStage: arn, sessionID: "st-1", matching: filter, limit: 10))")
        }
        answers.append(
            "\(try history.participants(ofStage: arn, sessionID: "st-1", matching: .none, after: "p", limit: 1))")
        answers.append("\(try history.participant(.init("p", ofStage: arn, sessionID: "st-1")).map { "\($0)" } ?? "none")")
        answers.append("\(try history.participant(.init("x", ofStage: arn, sessionID: "st-1")) == nil)")
        answers.append("\(try ["p", "x"].map { try history.knows(participant: $0, ofStage: arn) })")
        for id in ["p", "q"] {
            let events = try history.events(of: .init(id, ofStage: arn, sessionID: "st-1"), limit: 10)
            answers += events.map(Self.text)
            let rest = try history.events(
                of: .init(id, ofStage: arn, sessionID: "st-1"), after: events[0].sequence, limit: 2)
            answers += rest.map(Self.text)
        }
        return answers
    }

    /// And what the stream of all events tells.
    static func allAnswers(_ history: any HistoryReading) throws -> [String] {
        var answers = try answers(history)
        let events = try history.events(after: 0, limit: 100)
        answers += events.map(Self.text)
        answers += try history.events(after: events[1].sequence, limit: 2).map(Self.text)
        answers.append("\(try history.lastSequence() == events.last?.sequence)")
        for stage in ["one", "", "none", nil] {
            let series = try history.metricSeries(ofStage: stage, since: minute)
            answers.append("\(series) \(try history.metricPoints(of: series, in: minute - 1..<minute + 1))")
        }
        return answers
    }

    /// An event without its number, which each store gives as it likes.
    private static func text(_ event: ParticipantEvent) -> String {
        var event = event
        event.sequence = 0
        return "\(event)"
    }

    /// Of the story's writes, as many are events that are listed.
    static let storyEventCount = 14

    static let story: [HistoryWrite] =
        MetricSample.writes(samples) + [began("st-0", at: -60), .sessionEnded(stageARN: arn, sessionID: "st-0", at: now)]
        + start(7) + start(8, of: "q") + [recording(.starting, of: "r"), recording(.active, of: "r")] + start(9, of: "r") + [
            .event(
                {
                    var event = ParticipantEvent(
                        name: .publishWarning, time: now, of: .init("p", ofStage: arn, sessionID: "st-1"), userID: "user p",
                        generation: 7)
                    (event.rule, event.sentence) = ("gop", "Set the keyframe interval to 2 s.")
                    return event
                }()),
            recording(.active, of: "p"), recording(.stopped, of: "q"), recording(.failed, of: "nobody"),
            recording(.stopped, of: "p", began: "before"), recording(.failed, of: "q", began: "later"),
            .event(
                {
                    var event = ParticipantEvent(
                        name: .recordingEnded, time: now, of: .init("q", ofStage: arn, sessionID: "st-1"), userID: "")
                    event.recording = .init(bucketName: "recordings", prefix: "one/st-1/q/t", duration: 4_103)
                    return event
                }()),
            .replication(
                ParticipantReplication(.replica, isActive: true, sourceStageARN: "arn:a", sourceSessionID: "st-a"), stageARN: arn,
                sessionID: "st-1", participantID: "q"),
            .replication(
                ParticipantReplication(.source, isActive: false), stageARN: arn, sessionID: "st-1", participantID: "nobody"),
            .event(
                {
                    var event = ParticipantEvent(
                        name: .replicationStarted, time: now, of: .init("q", ofStage: arn, sessionID: "st-1"), userID: "")
                    event.destination = .init(stageARN: "arn:b", sessionID: "st-b")
                    event.isReplica = true
                    return event
                }()),
            event(.publishError, 8, of: "q", at: 1), event(.publishStopped, 8, of: "q", at: 2), event(.left, 8, of: "q", at: 2),
            participant(8, of: "q", isConnected: false), closed(7), event(.left, 7),
        ]

    /// The first one of an hour.
    static let minute = MetricPoint.minute(of: now)

    /// Of a minute and the next one, in two hours.
    static let samples = [
        MetricSample(MetricSeries(.publishers, stage: "one"), MetricPoint(minute: minute - 1, 2)),
        MetricSample(MetricSeries(.publishers, stage: "one"), MetricPoint(minute: minute, 3)),
        MetricSample(
            MetricSeries(.publishBitrate, stage: "one", participant: "p", layer: "hi", media: .video),
            MetricPoint(minute: minute, count: 2, sum: 0.5, minimum: 0.125, maximum: 0.375)),
        MetricSample(MetricSeries(.concurrentPublishers), MetricPoint(minute: minute, 7)),
    ]

    @Test
    func `what one node writes another reads in order, and as SQLite would tell it`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        let directory = try TemporaryDirectory()
        let embedded = try EmbeddedStore(directory: directory.path)
        for write in Self.story {
            first.store.record([write])
            embedded.record([write])
        }
        let expected = try await withCheckedThrowingContinuation { continuation in
            embedded.read(Self.allAnswers) { continuation.resume(with: $0) }
        }
        try await eventually { try await second.read { try $0.events(after: 0, limit: 100).count } == Self.storyEventCount }
        let (here, there) = (try await first.read(Self.allAnswers), try await second.read(Self.allAnswers))
        #expect(there == expected)
        #expect(here == expected)
        embedded.close()
    }

    /// Access keys are held against the ARN that a request names.
    @Test
    func `an ARN of another region or account has no history, though its id is a stage's`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        try await node.write { $0.put(ClusterBench.stage("one")) }
        node.store.record(Self.start(7))
        try await eventually { try await Self.names(node).count == 2 }
        for names in [ResourceName(region: "eu-west-1"), ResourceName(account: "123456789012")] {
            let foreign = names.arn(.stage, "one")
            let isEmpty = try await node.read { history -> Bool in
                let sessions = try history.sessions(ofStage: foreign, after: nil, limit: 10)
                let participants = try history.participants(ofStage: foreign, sessionID: "st-1", limit: 10)
                let events = try history.events(of: .init("p", ofStage: foreign, sessionID: "st-1"), limit: 10)
                return try sessions.isEmpty && participants.isEmpty && events.isEmpty
                    && history.session("st-1", ofStage: foreign) == nil
                    && history.participant(.init("p", ofStage: foreign, sessionID: "st-1")) == nil
                    && !history.knows(participant: "p", ofStage: foreign)
            }
            #expect(isEmpty, "\(foreign)")
        }
        try await node.write { $0.removeStage(Self.arn) }
        #expect(try await Self.names(node).count == 2, "a stage's history outlives it")
    }

    @Test
    func `one node at a time has a recording, until it is closed`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        func write(_ node: TestNode, _ name: String, _ kind: JournalLine.Kind, _ text: String) async throws -> ClusterJournal? {
            node.store.record([
                .journal(JournalLine(kind, stageARN: Self.arn, participantID: "p", prefix: "one/st/p/t", node: name, text: text)),
                // What comes behind it says that it has come.
                Self.recording(.active, of: "\(name) \(text)"), Self.participant(1, of: "\(name) \(text)"),
            ])
            try await eventually {
                try await first.read { try $0.participant(.init("\(name) \(text)", ofStage: Self.arn, sessionID: "st-1")) } != nil
            }
            return try await second.read { try $0.journal(ofParticipant: "p", ofStage: Self.arn, prefix: nil) }
        }
        #expect(try await write(second, "b", .follows, "0") == nil)
        _ = try await write(first, "a", .begins, "1")
        var journal = try #require(try await write(first, "a", .follows, "2\nof two lines"))
        #expect(journal == ClusterJournal(prefix: "one/st/p/t", node: "a", isClosed: false, texts: ["1", "2\nof two lines"]))
        #expect(try await write(second, "b", .follows, "not its own") == journal)
        journal = try #require(try await write(second, "b", .takesOver, "3"))
        #expect(journal.node == "b" && journal.texts.count == 3)
        for kind in [JournalLine.Kind.follows, .closes] { #expect(try await write(first, "a", kind, "late \(kind)") == journal) }
        for number in 0..<ClusterHistory.linesAtATime - 1 {
            second.store.record([
                .journal(
                    JournalLine(
                        .follows, stageARN: Self.arn, participantID: "p", prefix: "one/st/p/t", node: "b", text: "\(number)"))
            ])
        }
        journal = try #require(try await write(second, "b", .follows, "last"))
        #expect(
            journal.texts.count == 3 + ClusterHistory.linesAtATime && journal.texts.last == "last", "more than one answer has")
        journal = try #require(try await write(second, "b", .closes, "4"))
        #expect(journal == ClusterJournal(prefix: "one/st/p/t", node: "b", isClosed: true, texts: ["4"]))
        #expect(try await write(first, "a", .takesOver, "5") == journal)
    }

    private static func wasTest(_ generation: UInt64) -> HistoryWrite {
        .wasTest(stageARN: arn, sessionID: "st-1", participantID: "p", generation: generation)
    }

    static func publish(_ generation: UInt64, of id: String = "p") -> [HistoryWrite] {
        start(generation, of: id) + [
            event(.publishStopped, generation, of: id), event(.left, generation, of: id),
            participant(generation, of: id, isConnected: false),
        ]
    }

    @Test(
        arguments: [
            // A session of which it was all is forgotten with it, and may begin again.
            (publish(7) + [wasTest(7)], false, []),
            (publish(7) + [wasTest(7)] + publish(8), true, ["p"]),
            // Others stay, and their session.
            (publish(6, of: "q") + publish(7) + [wasTest(7)], true, ["q"]),
            // When in doubt it was a publish: it has published before, goes on, was recorded, or has another generation.
            (publish(6) + publish(7) + [wasTest(7)], true, ["p"]),
            (start(7) + [wasTest(7)], true, ["p"]),
            (start(7) + [recording(.active, of: "p")] + publish(7).suffix(3) + [wasTest(7)], true, ["p"]),
            (publish(7) + [wasTest(6)], true, ["p"]),
        ] as [([HistoryWrite], Bool, [String])])
    func `a network test leaves no participant, here as at a gateway alone`(
        _ writes: [HistoryWrite], _ hasSession: Bool, _ participants: [String]
    ) async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        let embedded = try TemporaryDirectory()
        let alone = try EmbeddedStore(directory: embedded.path)
        alone.record(writes)
        // What comes behind says that all has come.
        node.store.record(writes + [Self.began("st-mark")])
        @Sendable func lists(_ history: any HistoryReading) throws -> [String] {
            let found = try history.participants(ofStage: Self.arn, sessionID: "st-1", limit: 10).map(\.participantID)
            let ofOne = try history.events(of: .init("p", ofStage: Self.arn, sessionID: "st-1"), limit: 10)
            return found + [
                "\(try history.session("st-1", ofStage: Self.arn) != nil)", "\(found.contains("p") == !ofOne.isEmpty)",
                "\(try history.sessions(ofStage: Self.arn, after: nil, limit: 10).count)",
            ]
        }
        let expected = participants + ["\(hasSession)", "true"]
        try await eventually {
            try await node.read { try $0.session("st-mark", ofStage: Self.arn) } != nil
        }
        #expect(try await node.read { try lists($0) } == expected + [hasSession ? "2" : "1"])
        let (told, events) = try await withCheckedThrowingContinuation { continuation in
            alone.read {
                (try lists($0), try $0.events(after: 0, limit: 100).count)
            } reply: {
                continuation.resume(with: $0)
            }
        }
        #expect(told == expected + [hasSession ? "1" : "0"])
        #expect(events >= 2, "they are still to be delivered")
        alone.close()
    }

    @Test
    func `what every node saw of a minute is added up, once`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        let series = [MetricSeries(.publishers, stage: "one"), MetricSeries(.publishBitrate, stage: "one")]
        for (node, value) in [(first, 1.0), (second, 3.0)] {
            let point = MetricPoint(minute: Self.minute, count: 60, sum: 60 * value, minimum: value, maximum: value)
            node.store.record(MetricSample.writes(series.map { MetricSample($0, point) }))
        }
        let bitrate = MetricPoint(minute: Self.minute, count: 120, sum: 240, minimum: 1, maximum: 3)
        let publishers = MetricPoint(minute: Self.minute, count: 60, sum: 240, minimum: 4, maximum: 4)
        for node in [first, second] {
            try await eventually {
                try await node.read { try $0.metricPoints(of: series, in: Self.minute..<Self.minute + 1) } == [
                    [publishers], [bitrate],
                ]
            }
        }
    }

    @Test
    func `the publishes of a node that died are closed once, and what it says after its return is dropped`() async throws {
        let bench = try ClusterBench()
        let directory = try TemporaryDirectory()
        var dead: TestNode? = try TestNode(bench.settings("dead"), directory: directory)
        dead?.store.record(Self.start(7) + [Self.began("st-1"), Self.participant(8, of: "r"), Self.event(.joined, 8, of: "r")])
        let told = Lock<[ParticipantEvent.Name]>([])
        var observers = RedisStore.Observers()
        observers.onLocalEvents = { events in told.withLock { $0 += events.map(\.name) } }
        let survivor = try bench.node("survivor", observers: observers)
        try await eventually { try await Self.names(survivor, "r").count == 1 }
        dead = nil
        survivor.store.record([Self.closed(7), Self.closed(8, of: "r"), Self.closed(7)])
        try await eventually { try await Self.names(survivor, "r").count == 2 }
        try await eventually { told.withLock { $0.count } == 3 }
        #expect(told.withLock { $0 } == [.publishStopped, .left, .left], "the survivor's receivers hear of it")
        // It takes its own last process for dead, and brings what it had left to say.
        let heard = Lock<[ParticipantEvent.Name]>([])
        observers.onLocalEvents = { events in heard.withLock { $0 += events.map(\.name) } }
        dead = try TestNode(bench.settings("dead"), directory: directory, observers: observers)
        dead?.store.record([Self.event(.publishStopped, 7), Self.event(.left, 7), Self.participant(7)])
        dead?.store.record(Self.start(9))
        try await eventually { try await Self.names(survivor).count == 6 }
        try await eventually { heard.withLock { $0.count } == 2 }
        #expect(heard.withLock { $0 } == [.joined, .publishStarted], "its receivers do not hear of that end again")
        let names = try await Self.names(survivor)
        #expect(names == [.joined, .publishStarted, .publishStopped, .left, .joined, .publishStarted])
        let participant = try await survivor.read { try $0.participant(.init("p", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(participant?.isConnected == true, "the new publish is another one")
        #expect(try await Self.names(survivor, "r") == [.joined, .left])
    }

    @Test
    func `a user id with line breaks tells of nobody else's end`() async throws {
        let bench = try ClusterBench()
        let told = Lock<[ParticipantEvent]>([])
        var observers = RedisStore.Observers()
        observers.onLocalEvents = { events in told.withLock { $0 += events } }
        let node = try bench.node("a", observers: observers)
        guard case .participant(var participant) = Self.participant(7) else { return #expect(Bool(false)) }
        participant.userID = "\u{301}a \"b\"\nq LEFT c\r"
        node.store.record([Self.began("st-1"), .participant(participant), Self.event(.joined, 7), Self.closed(7)])
        try await eventually { told.withLock { $0.contains { $0.name == .left } } }
        let left = told.withLock { $0.filter { $0.name == .left } }
        #expect(left.map(\.participantID) == ["p"])
        #expect(left.map(\.userID) == [participant.userID])
    }

    @Test
    func `a node that restarts ends what its last process held, and its receivers hear of it`() async throws {
        let bench = try ClusterBench()
        let directory = try TemporaryDirectory()
        var node: TestNode? = try TestNode(bench.settings("a"), directory: directory)
        node?.store.record(Self.start(7))
        try await eventually { try await node?.read { try $0.events(after: 0, limit: 9).count } == 2 }
        node = nil
        let told = Lock<[ParticipantEvent.Name]>([])
        var observers = RedisStore.Observers()
        observers.onLocalEvents = { events in told.withLock { $0 += events.map(\.name) } }
        node = try TestNode(bench.settings("a"), directory: directory, observers: observers)
        let again = try #require(node)
        try await eventually { told.withLock { $0.count } == 2 }
        #expect(told.withLock { $0 } == [.publishStopped, .left])
        // By their times: the end is of today, what the test tells of 2084.
        #expect(try await Self.names(again) == [.publishStopped, .left, .joined, .publishStarted])
    }

    /// The old node's last words come through its own queue, at any time.
    @Test
    func `a participant that was taken over by another node is connected by the new publish`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        first.store.record(Self.start(7))
        try await eventually { try await Self.names(first).count == 2 }
        second.store.record([Self.participant(8), Self.event(.joined, 8)])
        try await eventually { try await Self.names(first).count == 3 }
        first.store.record(
            [Self.event(.publishStopped, 7), Self.event(.left, 7), Self.participant(7, isConnected: false)])
        try await eventually { try await Self.names(first).count == 5 }
        // The new one dies before it has begun to publish: there is nothing to stop.
        second.store.record([Self.event(.publishError, 8), Self.closed(8)])
        try await eventually { try await Self.names(first).count == 7 }
        let names = try await Self.names(first)
        #expect(names == [.joined, .publishStarted, .joined, .publishStopped, .left, .publishError, .left])
    }

    /// Who took it over says so later, in case the old node died before it could.
    @Test(arguments: [true, false])
    func `a publish that a newer one came upon is closed after it, unless its node has told`(hasTold: Bool) async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        first.store.record(Self.start(7))
        try await eventually { try await Self.names(first).count == 2 }
        second.store.record(Array(Self.start(9).dropFirst()))
        try await eventually { try await Self.names(first).count == 4 }
        if hasTold {
            // Taken over at its own node before, it ends under a later generation.
            first.store.record([Self.event(.publishStopped, 8), Self.event(.left, 8)])
            try await eventually { try await Self.names(first).count == 6 }
        }
        second.store.record([Self.closed(8), Self.closed(8), Self.event(.publishError, 9)])
        try await eventually { try await Self.names(first).count == 7 }
        let names = try await Self.names(first)
        #expect(names == [.joined, .publishStarted, .joined, .publishStarted, .publishStopped, .left, .publishError])
        let participant = try await first.read { try $0.participant(.init("p", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(participant?.isConnected == true)
        second.store.record([Self.closed(9)])
        try await eventually { try await Self.names(first).count == 9 }
        #expect(try await Self.names(first).suffix(2) == [.publishStopped, .left])
    }

    @Test
    func `closing an older publish than the one that goes on changes nothing`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record(Self.start(7) + [Self.closed(6), Self.event(.publishError, 7)])
        try await eventually { try await Self.names(node).count == 3 }
        #expect(try await Self.names(node) == [.joined, .publishStarted, .publishError])
    }

    @Test
    func `somebody who was refused does not disconnect who publishes`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record(Self.start(7) + [Self.participant(nil, isConnected: false), Self.event(.publishError, 0)])
        try await eventually { try await Self.names(node).count == 3 }
        let participant = try await node.read { try $0.participant(.init("p", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(participant?.isConnected == true)
    }

    @Test
    func `every node is told of the platform's events`() async throws {
        let bench = try ClusterBench()
        let told = Lock(0)
        var observers = RedisStore.Observers()
        observers.onEvents = { told.withLock { $0 += 1 } }
        let (first, second) = (try bench.node("a"), try bench.node("b", observers: observers))
        try await eventually { !second.store.statistics.isAway }
        let before = told.withLock { $0 }
        first.store.record(Self.start(7))
        try await eventually { told.withLock { $0 } > before }
    }

    /// Clients name the last one that they have: by `Last-Event-ID`, and by the token of a page.
    @Test(arguments: [Int64.max, Int64.max - 1])
    func `after the greatest number there are no events`(last: Int64) async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record(Self.start(7))
        try await eventually { try await Self.names(node).count == 2 }
        let found = try await node.read { history in
            try history.events(after: last, limit: 500)
                + history.events(of: .init("p", ofStage: Self.arn, sessionID: "st-1"), after: last, limit: 100)
        }
        #expect(found.isEmpty)
    }

    @Test(arguments: [("1700000000000-5", Int64(1_700_000_000_000) << 20 | 5), ("0-1", 1)])
    func `the stream's ids are numbers that rise with them`(text: String, sequence: Int64) {
        #expect(EventNumber(text)?.sequence == sequence)
        #expect(EventNumber(sequence: sequence).streamID == text)
        #expect(EventNumber("5") == nil && EventNumber("5-9999999") == nil)
    }
}
