import RTMP
import Refusals

/// The refusal that ends a connection which breaks the protocol: its encoder, the log and the metric's label show it.
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
    /// The codes that an `RTMPError` may have.
    static let ofRTMPErrors: [RefusalCode] = [.notRTMP, .malformedRTMP, .excessiveRTMP, .malformedCommand, .outOfTurn]
}
