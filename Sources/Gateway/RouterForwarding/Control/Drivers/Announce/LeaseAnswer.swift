import Admission
import JSON

/// What a router answers to a lease.
struct LeaseAnswer: Sendable {
    /// Another after every start of the router.
    let bootID: String?
    /// The ids that it holds for the gateway, one that two stages have twice; nil where they are those that it was told.
    private let held: [String]?

    /// - Parameter response: nil where none came in time.
    init?(_ response: RouterResponse?) {
        guard let response, response.status == 200, let answer = try? JSONValue(parsing: response.body) else { return nil }
        bootID = answer["bootId"]?.string
        held = answer["participants"]?.array?.compactMap(\.string)
    }

    /// All of them when the router has begun anew, else those that it does not list.
    /// - Parameter former: the `bootID` of the answer before.
    func lost(of participants: [Announcement], since former: String?) -> [ParticipantKey] {
        if let former, bootID != former { return participants.map(\.participant) }
        guard held != nil else { return [] }
        let surplus = surplus(over: participants)
        return participants.map(\.participant).filter { surplus[$0.participantID, default: 0] < 0 }
    }

    /// How many more of each id the router holds than are live there; negative where it has lost some.
    func surplus(over participants: [Announcement]) -> [String: Int] {
        var surplus: [String: Int] = [:]
        for id in held ?? [] { surplus[id, default: 0] += 1 }
        for announcement in participants { surplus[announcement.participantID, default: 0] -= 1 }
        return surplus
    }
}
