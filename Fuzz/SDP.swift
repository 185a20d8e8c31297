// fuzz: module=SDP
import SDP

/// Reads any bytes as a session description; what was read must survive writing and reading.
enum SDPFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let description = try? SessionDescription(parsing: [UInt8](bytes)) else { return }
        read(description.attributes)
        for section in description.media {
            _ = (section.direction, section.mid, section.payloadTypes)
            for type in section.payloadTypes { _ = section.feedback(of: type) }
            _ = section.formatParameters
            read(section.attributes)
        }
        let again = try? SessionDescription(parsing: Array(description.text.utf8))
        precondition(again == description, "a description changed in writing")
    }

    /// Every type of attribute, wherever it stands.
    private static func read(_ attributes: [Attribute]) {
        _ = (attributes.all(RTPMap.self), attributes.all(FormatParameters.self), attributes.all(RTCPFeedback.self))
        _ = (attributes.all(HeaderExtensionMap.self), attributes.all(Candidate.self), attributes.all(MediaGroup.self))
        _ = (attributes.all(Simulcast.self), attributes.all(RestrictionIdentifier.self))
        _ = (attributes.all(Source.self), attributes.all(SourceGroup.self), attributes.all(MediaStreamIdentifier.self))
        _ = (attributes.all(Fingerprint.self), attributes.all(CryptoAttribute.self))
    }
}
