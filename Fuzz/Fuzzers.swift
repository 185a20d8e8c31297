import Testing

/// One fuzzer: its name (the file's, and that of its folders in Corpus and Crashers) and its body.
struct Fuzzer: Sendable, CustomTestStringConvertible {
    let name: String
    let run: @Sendable (UnsafeRawBufferPointer) -> Void

    init(_ name: String, _ run: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.name = name
        self.run = run
    }

    var testDescription: String { name }

    /// Every file of this folder with a `// fuzz:` header.
    static let all = [
        Fuzzer("AAC", AACFuzz.run),
        Fuzzer("AMF0", AMF0Fuzz.run),
        Fuzzer("CBOR", CBORFuzz.run),
        Fuzzer("ClientConfiguration", ClientConfigurationFuzz.run),
        Fuzzer("CloudWatch", CloudWatchFuzz.run),
        Fuzzer("FLV", FLVFuzz.run),
        Fuzzer("H264", H264Fuzz.run),
        Fuzzer("HTTPFields", HTTPFieldsFuzz.run),
        Fuzzer("HTTPRequest", HTTPRequestFuzz.run),
        Fuzzer("Handover", HandoverFuzz.run),
        Fuzzer("JSON", JSONFuzz.run),
        Fuzzer("JWT", JWTFuzz.run),
        Fuzzer("MediaContract", MediaContractFuzz.run),
        Fuzzer("MediaPort", MediaPortFuzz.run),
        Fuzzer("Opus", OpusFuzz.run),
        Fuzzer("PROXYHeader", PROXYHeaderFuzz.run),
        Fuzzer("RTCP", RTCPFuzz.run),
        Fuzzer("RTMPChunk", RTMPChunkFuzz.run),
        Fuzzer("RTMPSession", RTMPSessionFuzz.run),
        Fuzzer("RTPHeader", RTPHeaderFuzz.run),
        Fuzzer("Recording", RecordingFuzz.run),
        Fuzzer("S3Answer", S3AnswerFuzz.run),
        Fuzzer("SDP", SDPFuzz.run),
        Fuzzer("SDPFragment", SDPFragmentFuzz.run),
        Fuzzer("SRTP", SRTPFuzz.run),
        Fuzzer("STUN", STUNFuzz.run),
        Fuzzer("SharedPort", SharedPortFuzz.run),
        Fuzzer("SignatureV4", SignatureV4Fuzz.run),
    ]
}
