import Testing
import Wire

@testable import Store

@Suite("The running sessions of stages")
struct StageSessionTableTests {
    private static let start = WallTime(secondsSince1970: 1_800_000_000)
    private static let one = StageSession(stageARN: "arn:stage/one", sessionID: "st-1", startTime: start)

    @Test func `a session begins once, and the history is told of it once`() {
        var sessions = StageSessionTable(recorded: [], now: Self.start)
        let id = sessions.id(ofStage: "arn:stage/one", now: Self.start)
        #expect(sessions.id(ofStage: "arn:stage/one", now: Self.start + .seconds(1)) == id)
        #expect(sessions.recorded(ofStage: "arn:stage/one") == nil, "nobody was announced")
        let session = StageSession(stageARN: "arn:stage/one", sessionID: id, startTime: Self.start)
        #expect(sessions.record(ofStage: "arn:stage/one") == [.sessionBegan(session)])
        #expect(sessions.record(ofStage: "arn:stage/one").isEmpty)
        #expect(sessions.recorded(ofStage: "arn:stage/one") == session)
    }

    @Test func `it ends when nobody has been there for long enough, with an end in the history only if that knows it`() {
        var sessions = StageSessionTable(recorded: [Self.one], now: Self.start)
        _ = sessions.id(ofStage: "arn:stage/two", now: Self.start)
        sessions.enter("arn:stage/one")
        #expect(sessions.endIdle(after: .seconds(180), now: Self.start + .seconds(180)).isEmpty)
        #expect(sessions["arn:stage/two"] == nil && sessions["arn:stage/one"] == Self.one)
        sessions.leave("arn:stage/one", now: Self.start + .seconds(200))
        #expect(sessions.endIdle(after: .seconds(180), now: Self.start + .seconds(379)).isEmpty)
        let end = Self.start + .seconds(380)
        let ended = [HistoryWrite.sessionEnded(stageARN: "arn:stage/one", sessionID: "st-1", at: end)]
        #expect(sessions.endIdle(after: .seconds(180), now: end) == ended)
        #expect(sessions.isEmpty)
    }

    @Test func `it ends in its time where the clock was set back by hours since`() {
        var sessions = StageSessionTable(recorded: [Self.one], now: Self.start)
        #expect(sessions.endIdle(after: .seconds(180), now: Self.start + .seconds(-100)).isEmpty)
        let ended = sessions.endIdle(after: .seconds(180), now: Self.start + .seconds(-7_200))
        #expect(ended.count == 1 && sessions.isEmpty)
    }

    @Test func `after a network test it is told again, which the history may have forgotten with it`() {
        var sessions = StageSessionTable(recorded: [Self.one], now: Self.start)
        #expect(sessions.record(ofStage: "arn:stage/one").isEmpty)
        sessions.noteTest(onStage: "arn:stage/one")
        #expect(sessions.record(ofStage: "arn:stage/one") == [.sessionBegan(Self.one)])
        #expect(sessions.record(ofStage: "arn:stage/one").isEmpty)
    }

    @Test func `what is found again does not take the place of what runs`() {
        var sessions = StageSessionTable(recorded: [Self.one], now: Self.start)
        let other = StageSession(stageARN: "arn:stage/one", sessionID: "st-2", startTime: Self.start)
        sessions.takeUp([other], now: Self.start)
        #expect(sessions["arn:stage/one"] == Self.one)
        #expect(sessions.beginning(again: "st-2", ofStage: "arn:stage/one").isEmpty)
        #expect(sessions.beginning(again: "st-1", ofStage: "arn:stage/one") == [.sessionBegan(Self.one)])
        sessions.replace(with: other, isRecorded: false, idleSince: Self.start)
        #expect(sessions["arn:stage/one"] == other && sessions.recorded(ofStage: "arn:stage/one") == nil)
        sessions.forgetDeserted()
        #expect(sessions.isEmpty)
    }
}
