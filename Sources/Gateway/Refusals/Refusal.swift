/// One reason to turn an encoder away, as the peer, the log, the event, the metric label and docs/errors.md all name it.
///
/// The reason is a `RefusalCode`; a `Refusal` adds what was measured.
public struct Refusal: Error, Sendable, Equatable {
    public var code: RefusalCode
    /// The sentence for the encoder: what was found, the limit, and the setting to change.
    public var sentence: String

    public init(_ code: RefusalCode, sentence: String? = nil) {
        self.code = code
        self.sentence = sentence ?? code.sentence
    }

    /// `SD-1042: sentence`, as RTMP's `description` and problem documents carry it.
    public var text: String { "\(code.identifier): \(sentence)" }
}
