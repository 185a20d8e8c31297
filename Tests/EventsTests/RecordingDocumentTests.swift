import Events
import JSON
import Store
import Testing
import Wire

@Suite("What a recording's folder says of it")
struct RecordingDocumentTests {
    static func document(_ status: RecordingDocument.Status) -> RecordingDocument {
        RecordingDocument(
            status, of: .init("p", ofStage: "arn:stage", sessionID: "st-1"),
            startedAt: WallTime(nanosecondsSince1970: 1_704_110_455_900_000_000),
            endedAt: WallTime(secondsSince1970: 1_704_110_460), duration: 4_103)
    }

    static let hls: JSONValue = [
        "path": "media/hls", "playlist": "multivariant.m3u8", "renditions": [["path": "high", "playlist": "playlist.m3u8"]],
    ]

    @Test func `a beginning has no end`() {
        let document = Self.document(.started)
        #expect(document.name == "events/recording-started.json")
        #expect(
            document.json == [
                "version": "v1", "stage_arn": "arn:stage", "session_id": "st-1", "participant_id": "p",
                "recording_started_at": "2024-01-01T12:00:55Z", "recording_status": "RECORDING_STARTED",
                "media": ["hls": Self.hls],
            ])
    }

    @Test(arguments: [
        (RecordingDocument.Status.ended, "events/recording-ended.json", "RECORDING_ENDED", ""),
        (.endedWithFailure("no room"), "events/recording-failed.json", "RECORDING_ENDED_WITH_FAILURE", "no room"),
    ])
    func `an end has times, a length and a message`(
        _ status: RecordingDocument.Status, _ name: String, _ word: String, _ message: String
    ) {
        let document = Self.document(status)
        #expect(document.name == name)
        let json = document.json
        #expect(json["recording_started_at"] == "2024-01-01T12:00:55Z" && json["recording_ended_at"] == "2024-01-01T12:01:00Z")
        #expect(json["recording_status"] == .string(word) && json["recording_status_message"] == .string(message))
        #expect(json["media"]?["hls"]?["duration_ms"] == 4_103)
    }

    @Test func `what never began has no times`() {
        let document = Self.document(.startFailed)
        #expect(document.name == "events/recording-failed.json")
        let json = document.json
        #expect(json["recording_status"] == "RECORDING_START_FAILED" && json["recording_started_at"] == nil)
        #expect(json["recording_ended_at"] == nil && json["recording_status_message"] == nil && json["media"]?["hls"] == Self.hls)
    }

    @Test func `thumbnails are named where there are any`() {
        var document = Self.document(.ended)
        document.media.hasHLS = false
        (document.media.hasThumbnails, document.media.hasLatestThumbnail) = (true, true)
        #expect(
            document.json["media"] == [
                "thumbnails": ["path": "media/thumbnails", "renditions": [["path": "high"]]],
                "latest_thumbnail": ["path": "media/latest_thumbnail", "renditions": [["path": "high"]]],
            ])
    }
}
