import Recording
import Store
import Testing

@testable import Node

@Suite("How a recording stands, and what is told of it")
struct RecordingStatesTests {
    typealias State = RecordingSummary.State

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var wasActive = false
        var told: [State]
        var states: [ParticipantRecording.State]
        var events: [ParticipantEvent.Name]
    }

    @Test(arguments: [
        Case(
            testDescription: "from beginning to end", told: [.starting, .active, .stopping, .stopped],
            states: [.starting, .active, .stopping, .stopped], events: [.recordingStarted, .recordingEnded]),
        Case(
            testDescription: "whoever comes back within the window began before",
            told: [.starting, .active, .stopping, .active, .stopping, .stopped],
            states: [.starting, .active, .stopping, .active, .stopping, .stopped], events: [.recordingStarted, .recordingEnded]),
        Case(
            testDescription: "over before the first object was stored", told: [.starting, .stopping, .active, .stopped],
            states: [.starting, .stopping, .active, .stopped], events: [.recordingStarted, .recordingEnded]),
        Case(
            testDescription: "nothing came that could be recorded", told: [.starting, .stopping, .stopped],
            states: [.starting, .stopping, .stopped], events: []),
        Case(
            testDescription: "nothing was stored", told: [.starting, .failed("403")], states: [.starting, .failed],
            events: [.recordingStartFailed]),
        Case(
            testDescription: "something was stored", told: [.starting, .active, .failed("disk")],
            states: [.starting, .active, .failed], events: [.recordingStarted, .recordingEndFailed]),
        Case(
            testDescription: "finished by the next process", wasActive: true, told: [.stopping, .stopped],
            states: [.stopping, .stopped], events: [.recordingEnded]),
        Case(
            testDescription: "what is known, and what comes after the end, is no news",
            told: [.starting, .starting, .active, .active, .failed("a"), .failed("b"), .stopped, .active],
            states: [.starting, .active, .failed], events: [.recordingStarted, .recordingEndFailed]),
    ])
    func `each arrow tells what it has to`(_ expected: Case) {
        var machine = RecordingStates(wasActive: expected.wasActive)
        let news = expected.told.compactMap { machine.told($0) }
        #expect(news.map(\.state) == expected.states)
        #expect(news.compactMap(\.event) == expected.events)
        #expect(machine.isOver == [.stopped, .failed].contains(expected.states.last))
    }
}
