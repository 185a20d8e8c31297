import Admission
import GatewayLogging
import Refusals
import Wire

/// One line per change of a session's state; never called for media.
enum SessionLog {
    static func posted(_ entry: SessionEntry) {
        Log.event(
            .info, "whip_posted",
            [
                "session": .string(entry.id), "participant": .string(entry.grant.participantID),
                "stage": .string(entry.grant.stageID),
                "remote": .address(entry.source), "user_agent": .string(entry.userAgent),
            ])
    }

    /// A POST was refused: what its encoder was told, and never its token.
    static func refused(_ refusal: Refusal, from source: SocketAddress, userAgent: String, of grant: PublishGrant?) {
        var fields: LogFields = [
            "code": .string(refusal.code.identifier), "sentence": .string(refusal.sentence), "remote": .address(source),
            "user_agent": .string(userAgent),
        ]
        if let grant {
            fields["participant"] = .string(grant.participantID)
            fields["stage"] = .string(grant.stageID)
        }
        Log.strangerEvent(.info, "whip_refused", fields)
    }

    static func started(_ entry: SessionEntry, peer: SocketAddress) {
        Log.event(
            .info, "whip_connected",
            ["session": .string(entry.id), "participant": .string(entry.grant.participantID), "peer": .address(peer)])
    }

    static func passedOver(_ entry: SessionEntry, _ sentence: String) {
        Log.event(
            .info, "whip_layers_passed_over",
            ["session": .string(entry.id), "participant": .string(entry.grant.participantID), "sentence": .string(sentence)])
    }

    static func ended(_ entry: SessionEntry) {
        let (story, figures) = (entry.story, entry.figures ?? MediaFigures())
        Log.event(
            .info, "whip_ended",
            [
                "session": .string(entry.id), "participant": .string(entry.grant.participantID),
                "verdict": .string(story.verdict ?? ""),
                "steps": .strings(story.entries.map { "\($0.step.rawValue)+\($0.sincePost.milliseconds)ms" }),
                "packets": .integer(figures.video.received + figures.audio.received),
                "lost": .integer(figures.video.lost + figures.audio.lost),
                "recovered": .integer(figures.video.recovered + figures.audio.recovered),
            ])
    }
}
