import EventLoop
import Events
import JSON
import ObjectStorage
import Recording
import Store
import Wire

/// Has participants recorded as their stages say (`autoParticipantRecordingConfiguration`), and tells how that goes: the
/// history, events, and the documents beside the media.
final class StageDirector: RecordingDirector {
    private let store: any GatewayStore
    private let names: ResourceName
    private let uploads: Uploads
    let register: (any RecordingRegister)?
    /// By prefix.
    private let standing = Lock<[String: RecordingStates]>([:])

    /// - Parameter node: this one's name where it is one of several.
    init(store: any GatewayStore, names: ResourceName, uploads: Uploads, node: String?) {
        (self.store, self.names, self.uploads) = (store, names, uploads)
        register = node.map { StoredRegister(node: $0, store: store, names: names) }
    }

    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan? {
        let state = store.state
        guard let recording = state.stages[stageARN(of: participant)]?.recording, recording.isEnabled else {
            let bucket = StorageService.bucketOfEverybody
            return uploads.knows(bucket) ? RecordingPlan(bucket: bucket) : nil
        }
        if isReplica, !recording.recordsReplicas { return nil }
        guard let storage = state.storageConfigurations[recording.storageARN] else {
            let failed = ParticipantRecording(.failed, bucketName: "", prefix: "")
            record(failed, .recordingStartFailed, of: participant)
            return nil
        }
        var plan = RecordingPlan(bucket: storage.bucketName)
        plan.segmentDuration = recording.segmentDuration
        // Without the bucket a node would take over from another one what it cannot end.
        if uploads.knows(storage.bucketName) { plan.reconnectWindow = .seconds(recording.reconnectWindow) }
        switch recording.media {
        case .audioAndVideo: plan.media = .audioAndVideo
        case .audioOnly: plan.media = .audioOnly
        case .none: plan.media = .thumbnailsAlone
        }
        plan.thumbnails = recording.thumbnailInterval.map { interval in
            let kept = recording.thumbnails.storage
            return .init(interval: interval, keepsAll: kept.contains(.sequential), keepsLatest: kept.contains(.latest))
        }
        return plan.media == .thumbnailsAlone && plan.thumbnails == nil ? nil : plan
    }

    func put(_ upload: Upload) { uploads.add(upload) }

    func documents(of recording: RecordingSummary) -> [StoredObject] {
        let status: RecordingDocument.Status
        switch recording.state {
        case .active: status = .started
        case .stopped: status = .ended
        case .failed(let words): status = recording.hasStarted ? .endedWithFailure(words) : .startFailed
        case .starting, .stopping, .elsewhere, .inNextSession: return []
        }
        var document = RecordingDocument(
            status, of: place(of: recording.participant), startedAt: recording.startedAt,
            endedAt: recording.endedAt ?? EventLoop.wallNow(), duration: recording.milliseconds)
        document.media.hasHLS = recording.media != .thumbnailsAlone
        document.media.hasThumbnails = recording.thumbnails?.keepsAll == true
        document.media.hasLatestThumbnail = recording.thumbnails?.keepsLatest == true
        return [
            StoredObject(
                key: "\(recording.prefix)/\(document.name)", contentType: "application/json",
                content: .bytes(document.json.serialized()))
        ]
    }

    func changed(_ recording: RecordingSummary) {
        let news = standing.withLock { standing in
            // Of a recording that a former process left, this one first hears at its end.
            var states = standing[recording.prefix] ?? RecordingStates(wasActive: recording.hasStarted)
            let news = states.told(recording.state)
            standing[recording.prefix] = states.isOver || recording.state == .elsewhere ? nil : states
            return news
        }
        if recording.state == .inNextSession {
            record(recording.standing(.stopped), of: recording.participant)
        }
        guard let news else { return }
        let isOver = news.state == .stopped || news.event == .recordingEndFailed
        record(
            recording.standing(news.state), news.event, of: recording.participant,
            duration: isOver ? recording.milliseconds : nil)
    }

    private func record(
        _ recording: ParticipantRecording, _ name: ParticipantEvent.Name? = nil, of participant: RecordedParticipant,
        duration: Int? = nil
    ) {
        let place = place(of: participant)
        var writes = [
            HistoryWrite.recording(
                recording, stageARN: place.stageARN, sessionID: place.sessionID, participantID: place.participantID)
        ]
        if let name {
            var event = ParticipantEvent(name: name, time: EventLoop.wallNow(), of: place, userID: "")
            event.recording = .init(bucketName: recording.bucketName, prefix: recording.prefix, duration: duration)
            writes.append(.event(event))
        }
        store.record(writes)
    }

    private func place(of participant: RecordedParticipant) -> SessionParticipant {
        SessionParticipant(
            participant.participantID, ofStage: stageARN(of: participant), sessionID: participant.stageSessionID)
    }

    private func stageARN(of participant: RecordedParticipant) -> String {
        store.state.stageARN(ofID: participant.stageID, names: names)
    }
}

extension RecordingSummary {
    fileprivate var milliseconds: Int { Int(duration.milliseconds) }

    /// As its participant's history has it.
    fileprivate func standing(_ state: ParticipantRecording.State) -> ParticipantRecording {
        ParticipantRecording(state, bucketName: bucket, prefix: prefix)
    }
}
