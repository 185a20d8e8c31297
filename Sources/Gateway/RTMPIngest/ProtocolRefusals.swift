import RTMP
import Refusals

/// What a connection that cannot go on is called: to its encoder, in the log, and as the label of its metric.
extension RTMPError {
    var refusal: Refusal { Refusal(code, sentence: "\(opening): \(explanation).") }

    private var code: RefusalCode {
        switch self {
        case .unsupportedVersion, .httpRequest: .notRTMP
        case .firstChunkWithoutHeader, .headerInsideMessage, .invalidChunkSize, .invalidWindow, .malformedControlMessage:
            .malformedRTMP
        case .tooManyChunkStreams, .messageTooLong, .tooManyPartialBytes: .excessiveRTMP
        case .malformedCommand: .malformedCommand
        case .messageBeforePublish, .commandBeforeConnect: .outOfTurn
        }
    }

    private var opening: String {
        switch code {
        case .notRTMP: "This is no RTMP"
        case .excessiveRTMP: "The RTMP stream takes more than is allowed"
        case .outOfTurn: "The encoder spoke out of turn"
        default: "The RTMP stream is malformed"
        }
    }
}

extension RefusalCode {
    /// Those that an `RTMPError` comes to.
    static let ofRTMPErrors: [RefusalCode] = [.notRTMP, .malformedRTMP, .excessiveRTMP, .malformedCommand, .outOfTurn]
}
