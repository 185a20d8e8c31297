import Foundation
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Publishes that somebody else ends, and the queue for the platform")
struct HistoryDatabaseTests {
    let directory: TemporaryDirectory
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    init() throws { directory = try TemporaryDirectory() }

    static func participant(_ generation: UInt64, isConnected: Bool = true) -> HistoryWrite {
        var participant = Participant(
            .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u", attributes: ["k": "v"], firstJoinTime: now,
            ingestProtocol: "WHIP", ingestConfigurationARN: "", client: ClientAttributes())
        (participant.isConnected, participant.published, participant.generation) = (isConnected, true, generation)
        return .participant(participant)
    }

    static func event(_ name: ParticipantEvent.Name, _ generation: UInt64) -> HistoryWrite {
        .event(
            ParticipantEvent(
                name: name, time: now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u",
                generation: generation))
    }

    static func closed(_ generation: UInt64) -> HistoryWrite {
        .closed(stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p", generation: generation, at: now)
    }

    private static let started = [participant(5), event(.joined, 5), event(.publishStarted, 5)]

    private func names(after writes: [HistoryWrite]) throws -> [ParticipantEvent.Name] {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        for write in writes { _ = try history.append([write]) }
        var names: [ParticipantEvent.Name] = []
        try history.read { names = ((try? $0.events(after: 0, limit: 100)) ?? []).map(\.name) }
        return names
    }

    @Test
    func `closing a publish derives what its holder could not say, once`() throws {
        let names = try names(after: Self.started + [Self.closed(5), Self.closed(5)])
        #expect(names == [.joined, .publishStarted, .publishStopped, .left])
    }

    @Test
    func `a holder that comes back says nothing more of a closed publish`() throws {
        let late = [Self.event(.publishStopped, 5), Self.event(.left, 5), Self.participant(5), Self.event(.left, 4)]
        #expect(try names(after: Self.started + [Self.closed(5)] + late) == [.joined, .publishStarted, .publishStopped, .left])
        #expect(try names(after: [Self.event(.joined, 6)]).count == 5, "a newer publish is another one")
    }

    @Test
    func `closing an older publish than the one that goes on changes nothing`() throws {
        #expect(try names(after: Self.started + [Self.closed(4)]) == [.joined, .publishStarted])
    }

    @Test
    func `how a recording stands is kept beside what else is told of its participant`() throws {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        let recording = ParticipantRecording(.active, bucketName: "recordings", prefix: "one/st-1/p/t")
        let told = HistoryWrite.recording(recording, stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p")
        var started = ParticipantEvent(
            name: .recordingStarted, time: Self.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "")
        started.recording = .init(bucketName: "recordings", prefix: "one/st-1/p/t")
        _ = try history.append([told] + Self.started + [told, .event(started), Self.event(.left, 5), Self.participant(5)])
        try history.read { reader in
            #expect((try? reader.participant(.init("p", ofStage: "arn:stage/one", sessionID: "st-1")))??.recording == recording)
            for (state, count) in [(ParticipantRecording.State.active, 1), (.stopped, 0)] {
                let found = try? reader.participants(
                    ofStage: "arn:stage/one", sessionID: "st-1", matching: .recording(state), limit: 9)
                #expect(found?.count == count)
            }
            let ofModel = try? reader.events(of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), limit: 9)
            #expect(ofModel?.map(\.name) == [.joined, .publishStarted, .left], "the API's list does not know recordings")
            #expect((try? reader.events(after: 2, limit: 1))?.first?.recording == started.recording)
        }
    }

    /// Of a stage whose storage configuration was deleted.
    @Test
    func `a recording that failed to start without a bucket is told as a recording's event`() throws {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        var failed = ParticipantEvent(
            name: .recordingStartFailed, time: Self.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "")
        failed.recording = .init(bucketName: "", prefix: "")
        _ = try history.append([.event(failed), Self.event(.joined, 5)])
        try history.read { reader in
            #expect((try? reader.events(after: 0, limit: 9))?.map(\.recording) == [failed.recording, nil])
        }
    }

    @Test
    func `a recording that begins before its participant is known is its participant's then`() throws {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        func recording(_ state: ParticipantRecording.State) -> ParticipantRecording {
            ParticipantRecording(state, bucketName: "recordings", prefix: "one/st-1/p/t")
        }
        let early = [ParticipantRecording.State.starting, .active].map {
            HistoryWrite.recording(recording($0), stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p")
        }
        _ = try history.append(early + Self.started)
        try history.read { reader in
            #expect(
                (try? reader.participant(.init("p", ofStage: "arn:stage/one", sessionID: "st-1")))??.recording
                    == recording(.active))
        }
    }

    /// A bucket may take the last of a recording when its participant has been back for long.
    @Test
    func `what comes late of a former recording says nothing over one that goes on`() throws {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        func shown(after state: ParticipantRecording.State, of recording: String) throws -> ParticipantRecording? {
            let told = ParticipantRecording(state, bucketName: "recordings", prefix: recording)
            _ = try history.append([.recording(told, stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p")])
            var found: ParticipantRecording?
            try history.read { reader in
                found = (try? reader.participant(.init("p", ofStage: "arn:stage/one", sessionID: "st-1")))??.recording
            }
            return found
        }
        _ = try history.append(Self.started)
        for state in [ParticipantRecording.State.starting, .active] { _ = try shown(after: state, of: "one") }
        #expect(try shown(after: .starting, of: "two")?.prefix == "two")
        let begun = ParticipantRecording(.starting, bucketName: "recordings", prefix: "two")
        for state in [ParticipantRecording.State.active, .stopping, .stopped] {
            #expect(try shown(after: state, of: "one") == begun)
        }
        #expect(try shown(after: .active, of: "two")?.state == .active)
        #expect(try shown(after: .failed, of: "one")?.state == .active)
        #expect(try shown(after: .stopped, of: "two")?.state == .stopped)
        #expect(try shown(after: .starting, of: "three")?.prefix == "three")
    }

    /// Whoever told of them: nonsense in Redis, another process.
    @Test
    func `generations of more than 63 bits are kept as the greatest`() throws {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        let test = HistoryWrite.wasTest(stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p", generation: .max)
        _ = try history.append([Self.participant(.max), Self.event(.joined, .max), Self.closed(.max), test])
        try history.read { reader in #expect((try? reader.highestGeneration()) == UInt64(Int64.max)) }
    }

    @Test
    func `closing somebody unknown changes nothing`() throws {
        #expect(try names(after: [Self.closed(4)]).isEmpty)
    }

    @Test
    func `what is written waits for the platform, over a restart, until it is taken`() throws {
        for _ in 0..<2 {
            let history = try HistoryDatabase(directory: directory.path, isQueueing: true)
            _ = try history.append([Self.started[0], .delivered(target: "t", sequences: [1])])
            history.close()
        }
        let history = try HistoryDatabase(directory: directory.path, isQueueing: true)
        var queue: HistoryQueue?
        try history.read { queue = try? $0.historyQueue(limit: 10) }
        #expect(queue?.writes.map(\.sequence) == [1, 2])
        #expect(queue?.name.count == 16)
        let event = ParticipantEvent(
            name: .left, time: Self.now, of: .init("p", ofStage: "arn", sessionID: "s"), userID: "")
        let told = try history.append([.forwarded(through: 1, taken: [event])])
        #expect(told.map(\.name) == [.left], "receivers of this node hear what the platform derived")
        try history.read { queue = try? $0.historyQueue(limit: 10) }
        #expect(queue?.writes.map(\.sequence) == [2])
        history.close()
    }

    /// Else they would hear of an end that another node has told, after the participant is back at yet another one.
    @Test
    func `receivers of a node of a platform hear what the platform has taken, and no sooner`() throws {
        let history = try HistoryDatabase(directory: directory.path, isQueueing: true)
        defer { history.close() }
        _ = try history.recover(at: Self.now, webhooks: ["hook"], sparing: [])
        func waiting() throws -> [ParticipantEvent] {
            var events: [ParticipantEvent] = []
            try history.read { events = (try? $0.undelivered(to: "hook", after: 0, limit: 9)) ?? [] }
            return events
        }
        let told = try history.append(Self.started + [Self.event(.publishStopped, 5)])
        #expect(try told.isEmpty && waiting().isEmpty)
        var queue: HistoryQueue?
        try history.read { queue = try? $0.historyQueue(limit: 9) }
        let queued = (queue?.writes ?? []).compactMap { write -> ParticipantEvent? in
            if case .event(let event) = write.write { return event }
            return nil
        }
        #expect(queued.map(\.name) == [.joined, .publishStarted, .publishStopped])
        let derived = ParticipantEvent(
            name: .left, time: Self.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u")
        let taken = try history.append([.forwarded(through: 4, taken: Array(queued.prefix(2)) + [derived])])
        #expect(taken.map(\.name) == [.joined, .publishStarted, .left])
        #expect(try waiting() == taken)
        #expect(taken.allSatisfy { event in queued.allSatisfy { $0.sequence < event.sequence } }, "who reads on misses none")
    }

    @Test
    func `a node of a platform leaves it to the platform to end what its last process held`() throws {
        let first = try HistoryDatabase(directory: directory.path, isQueueing: true)
        _ = try first.append(Self.started)
        first.close()
        let next = try HistoryDatabase(directory: directory.path, isQueueing: true)
        _ = try next.recover(at: Self.now, webhooks: [], sparing: [])
        var (queue, events) = (HistoryQueue?.none, [ParticipantEvent]())
        try next.read {
            queue = try? $0.historyQueue(limit: 10)
            events = (try? $0.events(after: 0, limit: 10)) ?? []
        }
        guard case .closed(_, "st-1", "p", 5, Self.now)? = queue?.writes.last?.write else {
            Issue.record("not closed: \(String(describing: queue?.writes.last))")
            return
        }
        #expect(events.map(\.name) == [.joined, .publishStarted])
        next.close()
    }
}
