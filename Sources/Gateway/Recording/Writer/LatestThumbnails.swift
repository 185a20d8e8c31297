import EventLoop

/// The latest thumbnail of everybody who is live, for whoever asks, on any thread.
public final class LatestThumbnails: Sendable {
    private let pictures = Lock<[RecordedParticipant: [UInt8]]>([:])

    init() {}

    /// The JPEG of a participant of that stage, in whatever session; nil where there is none.
    public func picture(ofParticipant participantID: String, onStage stageID: String) -> [UInt8]? {
        pictures.withLock { pictures in
            pictures.first { $0.key.participantID == participantID && $0.key.stageID == stageID }?.value
        }
    }

    /// - Parameter picture: nil when the participant is not live any more.
    func set(_ picture: [UInt8]?, of participant: RecordedParticipant) {
        pictures.withLock { $0[participant] = picture }
    }
}
