import Admission
import Testing

@testable import RouterForwarding

@Suite("The latest publications of participants")
struct ForwardedParticipantsTests {
    private static let key = ParticipantKey("p", onStage: "s")

    private static func publication(_ serial: UInt64) -> ForwardedParticipant {
        let id = ForwardingID(participant: key, serial: serial)
        return ForwardedParticipant(id, .of("p", stage: "s", generation: 1), replicas: 1)
    }

    @Test func `nothing is known or set of a publication that has a successor`() {
        let (former, latest) = (Self.publication(1), Self.publication(2))
        var participants = ForwardedParticipants()
        participants[Self.key] = latest
        participants[former.slots[0]]?.state = .live
        #expect(participants[former.id] == nil && participants[former.slots[0]] == nil)
        #expect(participants[latest.id] != nil && participants[latest.slots[0]]?.state == .unplaced)
        participants[latest.slots[0]]?.state = .live
        #expect(participants[Self.key]?.replicas[0].state == .live)
    }

    @Test func `a slot's latest question is answered, and once`() {
        var participants = ForwardedParticipants()
        let latest = Self.publication(1)
        participants[Self.key] = latest
        let questions = (0..<2).map { _ in participants.ask(latest.slots[0]) }
        let answers = (questions + questions).map { participants.answered($0) != nil }
        #expect(answers == [false, true, false, false])
    }
}
