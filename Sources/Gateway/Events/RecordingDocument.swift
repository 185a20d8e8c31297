public import JSON
public import Store
public import Wire

/// What `events/recording-….json` in a recording's folder says of it, as IVS writes it (version `v1`).
public struct RecordingDocument: Equatable, Sendable {
    public enum Status: Equatable, Sendable {
        case started
        case ended
        /// Nothing was recorded.
        case startFailed
        /// What was recorded until then is there.
        case endedWithFailure(String)
    }

    public struct Media: Equatable, Sendable {
        /// Whether segments are written, not thumbnails alone.
        public var hasHLS = true
        public var hasThumbnails = false
        public var hasLatestThumbnail = false

        public init() {}
    }

    public var status: Status
    public var participant: SessionParticipant
    /// Nil where nothing was recorded.
    public var startedAt: WallTime?
    public var endedAt: WallTime?
    /// Of what was recorded, in milliseconds.
    public var duration: Int
    public var media: Media

    public init(
        _ status: Status, of participant: SessionParticipant, startedAt: WallTime?, endedAt: WallTime? = nil, duration: Int = 0,
        media: Media = Media()
    ) {
        (self.status, self.participant) = (status, participant)
        (self.startedAt, self.endedAt, self.duration, self.media) = (startedAt, endedAt, duration, media)
    }

    /// Below the recording's prefix. Of the last two there is one: both say that the recording is over.
    public var name: String {
        switch status {
        case .started: "events/recording-started.json"
        case .ended: "events/recording-ended.json"
        case .startFailed, .endedWithFailure: "events/recording-failed.json"
        }
    }

    public var json: JSONValue {
        var object: JSONObject = [
            "version": "v1", "stage_arn": .string(participant.stageARN), "session_id": .string(participant.sessionID),
            "participant_id": .string(participant.participantID),
        ]
        if let startedAt, status != .startFailed { object["recording_started_at"] = Self.time(startedAt) }
        if let endedAt, isOver { object["recording_ended_at"] = Self.time(endedAt) }
        object["recording_status"] = .string(statusName)
        if isOver { object["recording_status_message"] = .string(message) }
        object["media"] = .object(mediaJSON)
        return .object(object)
    }

    private var isOver: Bool {
        switch status {
        case .ended, .endedWithFailure: true
        case .started, .startFailed: false
        }
    }

    private var statusName: String {
        switch status {
        case .started: "RECORDING_STARTED"
        case .ended: "RECORDING_ENDED"
        case .startFailed: "RECORDING_START_FAILED"
        case .endedWithFailure: "RECORDING_ENDED_WITH_FAILURE"
        }
    }

    private var message: String { if case .endedWithFailure(let words) = status { words } else { "" } }

    private var mediaJSON: JSONObject {
        var media: JSONObject = [:]
        if self.media.hasHLS {
            var hls: JSONObject = [
                "path": "media/hls", "playlist": "multivariant.m3u8",
                "renditions": [["path": "high", "playlist": "playlist.m3u8"]],
            ]
            if isOver { hls["duration_ms"] = .integer(Int64(duration)) }
            media["hls"] = .object(hls)
        }
        if self.media.hasThumbnails { media["thumbnails"] = ["path": "media/thumbnails", "renditions": [["path": "high"]]] }
        if self.media.hasLatestThumbnail {
            media["latest_thumbnail"] = ["path": "media/latest_thumbnail", "renditions": [["path": "high"]]]
        }
        return media
    }

    private static func time(_ time: WallTime) -> JSONValue { .string(CivilTime(time).rfc3339WholeSeconds) }
}

extension CivilTime {
    /// `2026-11-21T02:14:36Z`
    var rfc3339WholeSeconds: String { rfc3339.prefix { $0 != "." && $0 != "Z" } + "Z" }
}
