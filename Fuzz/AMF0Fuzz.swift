// fuzz: module=AMF0
import AMF0
import Wire

/// Whatever decodes must encode again and decode to the same values.
enum AMF0Fuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let values = try? AMF0Decoder.values(in: bytes.bytes) else { return }
        let written = values.amf0Bytes
        precondition(
            (try? AMF0Decoder.values(in: written.span.bytes))?.amf0Bytes == written, "AMF 0 does not survive a round trip")
    }
}
