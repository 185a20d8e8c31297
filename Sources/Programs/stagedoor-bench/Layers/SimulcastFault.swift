import ArgumentParser

/// What OBS 32 does wrong with layers by WHIP, read in libdatachannel 0.24 and OBS' plugins/obs-webrtc.
///
/// A third is every publisher's here: requests for a keyframe change nothing.
enum SimulcastFault: String, CaseIterable, ExpressibleByArgument {
    /// One store of sent packets for all layers, by sequence number alone, and every layer's numbers begin at 0: a request for a
    /// lower layer's packet is answered with the top layer's.
    case crossedRequests = "crossed-requests"
    /// Sender reports tell of the top layer alone; the layers' times begin at one zero.
    case oneReport = "one-report"
}
