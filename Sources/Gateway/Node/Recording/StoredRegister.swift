import Recording
import Store

/// The register of recordings in a cluster's store, which goes by stages' ids: their ARNs may have another region than today's.
struct StoredRegister: RecordingRegister {
    let node: String
    let store: any GatewayStore
    let names: ResourceName

    func write(_ line: RegisterLine) {
        let kind: JournalLine.Kind =
            switch line.kind {
            case .begins: .begins
            case .follows: .follows
            case .takesOver: .takesOver
            case .closes: .closes
            }
        let stored = JournalLine(
            kind, stageARN: names.arn(.stage, line.participant.stageID), participantID: line.participant.participantID,
            prefix: line.prefix, node: node, text: line.text)
        store.record([.journal(stored)])
    }

    func read(
        _ participant: RecordedParticipant, prefix: String?, then: @escaping @Sendable (Result<RegisterPage?, any Error>) -> Void
    ) {
        let arn = names.arn(.stage, participant.stageID)
        store.read {
            try $0.journal(ofParticipant: participant.participantID, ofStage: arn, prefix: prefix).map {
                RegisterPage(node: $0.node, isClosed: $0.isClosed, texts: $0.texts)
            }
        } reply: {
            then($0)
        }
    }
}
