// fuzz: module=SDP
import SDP

/// Reads any bytes as a trickle fragment.
enum SDPFragmentFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let fragment = try? SDPFragment(parsing: [UInt8](bytes)) else { return }
        precondition(fragment.candidates.count <= SDPFragment.maximumCandidateCount)
        _ = fragment.text
    }
}
