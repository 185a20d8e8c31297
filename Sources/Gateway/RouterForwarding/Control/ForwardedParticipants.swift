import Admission

/// The participants by key: the latest publication of each, and the questions that its slots have open.
struct ForwardedParticipants: Sendable {
    private var latest: [ParticipantKey: ForwardedParticipant] = [:]
    private var lastQuestion = 0

    var isEmpty: Bool { latest.isEmpty }
    var keys: Dictionary<ParticipantKey, ForwardedParticipant>.Keys { latest.keys }
    var values: Dictionary<ParticipantKey, ForwardedParticipant>.Values { latest.values }

    /// What comes of it does not depend on chance.
    var inOrder: [ForwardedParticipant] {
        latest.sorted { ($0.key.stageID, $0.key.participantID) < ($1.key.stageID, $1.key.participantID) }.map(\.value)
    }

    subscript(_ key: ParticipantKey) -> ForwardedParticipant? {
        get { latest[key] }
        set { latest[key] = newValue }
    }

    /// Nil for a publication that is not its participant's latest.
    subscript(_ id: ForwardingID) -> ForwardedParticipant? { latest[id.participant].flatMap { $0.id == id ? $0 : nil } }

    /// Nil for a publication that is not its participant's latest; then nothing is set.
    subscript(_ slot: PlacementSlot) -> ForwardedParticipant.Replica? {
        get { self[slot.id]?.replicas[slot.replica] }
        set {
            guard self[slot.id] != nil, let newValue else { return }
            latest[slot.id.participant]?.replicas[slot.replica] = newValue
        }
    }
}

// MARK: - The store of placements

extension ForwardedParticipants {
    /// A question of a slot, in place of the one that it may have open.
    mutating func ask(_ slot: PlacementSlot) -> PlacementQuestion {
        lastQuestion += 1
        let question = PlacementQuestion(slot: slot, number: lastQuestion)
        self[slot]?.question = question.number
        return question
    }

    /// - Returns: nil for an answer that came too late.
    mutating func answered(_ question: PlacementQuestion) -> ForwardedParticipant.Replica? {
        guard let replica = self[question.slot], replica.question == question.number else { return nil }
        self[question.slot]?.question = nil
        return replica
    }
}
