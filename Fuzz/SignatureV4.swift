// fuzz: module=Signatures
import HTTP
import Signatures
import Wire

/// Any request is judged, and nobody is believed to be another than whose secret signed it. The secret is that of AWS' examples.
enum SignatureV4Fuzz {
    private static let verifier = SignatureV4Verifier(region: "us-east-1")
    private static let now = WallTime(secondsSince1970: 1_767_323_045)
    private static let owner = "AKIDEXAMPLE"

    static func run(_ bytes: UnsafeRawBufferPointer) {
        var parser = HTTPRequestParser(maximumBodyLength: 4096)
        guard case .request(let request)? = try? parser.receive(bytes.bytes).event else { return }
        let signer = try? verifier.verify(request, now: now) { id in
            id == owner ? Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY") : nil
        }
        precondition(signer == nil || signer == owner, "a stranger is believed")
    }
}
