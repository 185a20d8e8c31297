/// `a=extmap` (RFC 8285 §8): the local identifier of an RTP header extension.
public struct HeaderExtensionMap: TypedAttribute, Equatable {
    public static let attributeName = "extmap"
    public var identifier: UInt16
    public var direction: MediaDirection?
    public var uri: String
    public var extensionAttributes: String?

    public init(identifier: UInt16, direction: MediaDirection? = nil, uri: String) {
        (self.identifier, self.direction, self.uri) = (identifier, direction, uri)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 3)
        guard parts.count >= 2 else { return nil }
        let entry = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let identifier = UInt16(entry[0]), identifier > 0 else { return nil }
        if entry.count == 2 {
            guard let direction = MediaDirection(rawValue: String(entry[1])) else { return nil }
            self.direction = direction
        }
        self.identifier = identifier
        uri = String(parts[1])
        extensionAttributes = parts.count == 3 ? String(parts[2]) : nil
    }

    public var attributeValue: String {
        "\(identifier)" + (direction.map { "/" + $0.rawValue } ?? "") + " " + uri + (extensionAttributes.map { " " + $0 } ?? "")
    }

    public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    public static let rtpStreamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    public static let repairedRTPStreamID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    public static let transportWideCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
}
