import H264
import Refusals
import SDP
import Wire

extension AcceptedSection {
    /// One H.264 payload type (RFC 6184 §8.2.2): packetization-mode 1 and Constrained Baseline before all others.
    static func chooseH264(
        _ media: MediaDescription, _ maps: [RTPMap], _ rules: OfferRules
    ) throws(Refusal) -> (RTPMap, FormatParameters?, String) {
        let order = media.payloadTypes
        let candidates = maps.filter { $0.isEncoding("H264", clockRate: 90_000) && order.contains($0.payloadType) }
            .map { (map: $0, parameters: media.formatParameters(of: $0.payloadType)) }
        guard !candidates.isEmpty else { throw Refusal(.noH264) }
        let ranked = candidates.enumerated().map { (rank: rank($1.parameters), index: $0, candidate: $1) }
        guard let best = ranked.min(by: { ($0.rank, $0.index) < ($1.rank, $1.index) })?.candidate else { throw Refusal(.noH264) }
        let profile = profileLevelID(best.parameters)
        if let accepted = rules.acceptedProfiles, !accepted.contains(UInt8(profile >> 16)) {
            let name = SequenceParameterSet.profileName(UInt8(profile >> 16))
            throw Refusal(
                .wrongProfileOffered,
                sentence: "The offer has H.264 in \(name) profile only: set the encoder's profile to baseline.")
        }
        return (best.map, answered(best.map.payloadType, best.parameters, profile), hex(profile))
    }

    /// Mode 1 first, then Constrained Baseline (42 with constraint_set1), Baseline, others.
    private static func rank(_ parameters: FormatParameters?) -> Int {
        let profile = profileLevelID(parameters)
        let isBaseline = profile >> 16 == 66
        let profileRank = isBaseline && profile & 0x4000 != 0 ? 0 : isBaseline ? 1 : 2
        return (parameters?["packetization-mode"] == "1" ? 0 : 10) + profileRank
    }

    /// Without the parameter it is Baseline, level 1 (RFC 6184 §8.1).
    private static func profileLevelID(_ parameters: FormatParameters?) -> UInt32 {
        guard let text = parameters?["profile-level-id"], let bytes = [UInt8](hexadecimal: text), bytes.count == 3 else {
            return 0x42_000A
        }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Level 3.2 carries 720p at 60 frames a second; without level asymmetry the answer may not raise the level.
    private static func answered(_ payloadType: UInt8, _ offered: FormatParameters?, _ profile: UInt32) -> FormatParameters? {
        guard let offered else { return nil }
        var list: [FormatParameters.Parameter] = []
        let isAsymmetric = offered["level-asymmetry-allowed"] == "1"
        if isAsymmetric { list.append(.init("level-asymmetry-allowed", "1")) }
        if let mode = offered["packetization-mode"] { list.append(.init("packetization-mode", mode)) }
        let level = isAsymmetric ? max(profile & 0xFF, 0x20) : profile & 0xFF
        if offered["profile-level-id"] != nil { list.append(.init("profile-level-id", hex(profile & 0xFFFF00 | level))) }
        return list.isEmpty ? nil : FormatParameters(payloadType: payloadType, list)
    }

    private static func hex(_ value: UInt32) -> String {
        String(hexadecimal: [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }

    /// Opus (RFC 7587 §7), its stereo and in-band FEC kept.
    static func chooseOpus(
        _ media: MediaDescription, _ maps: [RTPMap]
    ) throws(Refusal) -> (RTPMap, FormatParameters?, Bool) {
        let order = media.payloadTypes
        guard let map = maps.first(where: { $0.isEncoding("opus", clockRate: 48_000) && order.contains($0.payloadType) }) else {
            throw Refusal(.noOpus)
        }
        let offered = media.formatParameters(of: map.payloadType)
        let isStereo = offered?["stereo"] == "1" || offered?["sprop-stereo"] == "1"
        var list = (offered?.parameters ?? []).filter { receiverParameters.contains($0.name) && $0.name != "stereo" }
        if isStereo { list.append(.init("stereo", "1")) }
        return (map, list.isEmpty ? nil : FormatParameters(payloadType: map.payloadType, list), isStereo)
    }

    /// Parameters that tell what a receiver takes; the `sprop-` ones are a sender's.
    private static let receiverParameters: Set<String> = [
        "minptime", "maxptime", "maxaveragebitrate", "maxplaybackrate", "useinbandfec", "usedtx", "stereo",
    ]
}
