public import Refusals
public import SDP

/// The formats of one m-line of an offer. Each of its lines is read once, here.
public struct OfferedFormats: Sendable {
    /// Those that the m-line names, in the order of their `a=rtpmap`.
    public let maps: [RTPMap]
    private let parametersByType: [UInt8: FormatParameters]

    public init(of media: MediaDescription) throws(Refusal) {
        guard media.attributes.count(where: { $0.name == RTPMap.attributeName }) <= Self.maximumMapCount else {
            throw malformed("An m-line of the offer has more than \(Self.maximumMapCount) a=rtpmap.")
        }
        let all: [RTPMap]
        do throws(SDPError) {
            all = try media.attributes.strictly(RTPMap.self)
        } catch { throw malformed("An a=rtpmap of the offer is malformed.") }
        let named = Set(media.payloadTypes)
        maps = all.filter { named.contains($0.payloadType) }
        parametersByType = media.formatParameters
    }

    /// What its first `a=fmtp` says; nil when there is none.
    public func parameters(of payloadType: UInt8) -> FormatParameters? { parametersByType[payloadType] }

    /// The payload type of RTX (RFC 4588 §8.1) whose `apt` is the chosen one.
    public func retransmission(of payloadType: UInt8) -> UInt8? {
        maps.first { map in
            map.isEncoding("rtx", clockRate: 90_000) && parametersByType[map.payloadType]?["apt"] == "\(payloadType)"
        }?.payloadType
    }

    /// A browser offers 50 at most; payload types end at 127.
    static let maximumMapCount = 128
}
