// fuzz: module=SDP
import SDP

/// Reads any bytes as a session description; what was read must survive writing and reading.
enum SDPFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let description = try? SessionDescription(parsing: [UInt8](bytes)) else { return }
        for section in description.media {
            _ = (section.direction, section.mid, section.payloadTypes)
            for type in section.payloadTypes { _ = section.feedback(of: type) }
            _ = section.formatParameters
            _ = section.attributes.all(RTPMap.self)
            _ = section.attributes.all(HeaderExtensionMap.self)
            _ = section.attributes.all(Candidate.self)
            _ = section.attributes.all(Simulcast.self)
            _ = section.attributes.all(SourceGroup.self)
            _ = section.attributes.all(Fingerprint.self)
        }
        let again = try? SessionDescription(parsing: Array(description.text.utf8))
        precondition(again == description, "a description changed in writing")
    }
}
