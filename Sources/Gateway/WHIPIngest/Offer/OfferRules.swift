import Refusals
import SDP

/// What of the media contract an offer can show already.
struct OfferRules: Sendable {
    /// profile_idc values that are published: Baseline unless an operator accepts more. nil leaves it to the parameter sets.
    var acceptedProfiles: Set<UInt8>? = [66]

    /// Layers of simulcast; OBS, browsers and the IVS SDKs send three at most.
    static let maximumLayers = 3
}
