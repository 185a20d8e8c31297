import Refusals
import Admission
import GatewayLogging
import WebRTCTransport
import Wire

/// One line per change of a subscriber's session; never called for media.
enum SubscriberLog {
    static func connected(_ entry: SubscriberEntry, peer: SocketAddress) {
        Log.event(
            .info, "whep_connected",
            [
                "session": .string(entry.transport.id), "stage": .string(entry.watched.stageID),
                "participant": .string(entry.watched.participantID), "subscriber": .string(entry.grant.participantID),
                "peer": .address(peer), "worker": .integer(entry.transport.worker ?? -1),
            ])
    }

    static func ended(_ entry: SubscriberEntry, _ reason: SessionEnd) {
        Log.event(
            .info, "whep_ended",
            [
                "session": .string(entry.transport.id), "participant": .string(entry.watched.participantID),
                "reason": .string(word(reason)),
            ])
    }

    private static func word(_ reason: SessionEnd) -> String {
        switch reason {
        case .closed: "closed"
        case .connectionLost: "connection lost"
        case .refused(let refusal): refusal.text
        case .takenOver: "taken over"
        case .shutdown: "shutdown"
        }
    }
}
