// fuzz: module=ObjectStorage
import ObjectStorage

/// Whatever a store answers is a yes, or a reason in few words without control characters.
enum S3AnswerFuzz {
    /// The first two bytes are the status; the rest is the body.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return }
        let status = Int(bytes[0]) << 8 | Int(bytes[1])
        let fault = S3Answer(status: status, body: [UInt8](bytes.dropFirst(2))).fault
        precondition((fault == nil) == (200...299).contains(status), "the status says whether it is stored")
        guard let words = fault?.words else { return }
        precondition(words.count <= 1_000, "the words are bounded")
        precondition(words.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "they are printed in a log")
    }
}
