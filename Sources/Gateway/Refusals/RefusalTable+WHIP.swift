/// What WHIP offers and requests are refused for (1100 to 1139).
extension RefusalCode {
    public static let malformedOffer = RefusalCode(
        1100, "malformed_offer", .rejected, 400, event: "INVALID_INPUT", "The SDP offer is malformed.")
    public static let noH264 = RefusalCode(
        1101, "no_h264", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The offer has no H.264 video track: enable H.264 in the encoder, and send video even where only audio matters.")
    public static let wrongProfileOffered = RefusalCode(
        1102, "wrong_profile_offered", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The offer has H.264 in a profile that is not accepted: set the encoder's profile to baseline.")
    public static let noOpus = RefusalCode(
        1103, "no_opus", .rejected, 422, event: "INVALID_AUDIO_CODEC",
        "The offer has an audio track without Opus: set the encoder's audio codec to Opus.")
    public static let tooManyTracks = RefusalCode(
        1104, "too_many_tracks", .rejected, 422, event: "INVALID_INPUT",
        "The offer has more than one audio or video track: send one of each.")
    public static let tooManyStreams = RefusalCode(
        1105, "too_many_streams", .rejected, 422, event: "INVALID_INPUT",
        "The tracks of the offer belong to different MediaStreams: put them into one (a=msid).")
    public static let inactiveTrack = RefusalCode(
        1106, "inactive_track", .rejected, 422, event: "INVALID_INPUT",
        "A track of the offer sends nothing (recvonly, inactive or port 0): offer sendonly tracks only.")
    public static let notBundled = RefusalCode(
        1107, "not_bundled", .rejected, 422, event: "INVALID_INPUT",
        "The offer does not bundle all its m-lines (a=group:BUNDLE): set bundlePolicy to max-bundle.")
    public static let noRTCPMux = RefusalCode(
        1108, "no_rtcp_mux", .rejected, 422, event: "INVALID_INPUT", "The offer has an m-line without a=rtcp-mux: enable it.")
    public static let unsupportedSetup = RefusalCode(
        1109, "unsupported_setup", .rejected, 422, event: "INVALID_INPUT",
        "The offer's a=setup is none of actpass, active and passive: offer actpass.")
    public static let unsupportedTransport = RefusalCode(
        1110, "unsupported_transport", .rejected, 422, event: "INVALID_INPUT",
        "The offer's m-lines must use UDP/TLS/RTP/SAVPF (DTLS-SRTP with feedback).")
    public static let unsupportedSection = RefusalCode(
        1111, "unsupported_section", .rejected, 422, event: "INVALID_INPUT",
        "The offer has an m-line that is neither audio nor video: leave it out.")
    public static let tooManyLayers = RefusalCode(
        1112, "too_many_layers", .rejected, 422, event: "INVALID_INPUT",
        "The offer has more than three simulcast layers: send three at most.")

    public static let missingToken = RefusalCode(
        1120, "missing_token", .rejected, 401,
        "The request has no bearer token: put the participant token into the encoder's settings.")
    public static let unsupportedContentType = RefusalCode(
        1121, "unsupported_content_type", .rejected, 415,
        "The body must be application/sdp (POST) or application/trickle-ice-sdpfrag (PATCH).")
    public static let bodyTooLarge = RefusalCode(1122, "body_too_large", .rejected, 413, "The body is larger than 64 KiB.")
    public static let unknownSession = RefusalCode(
        1123, "unknown_session", .rejected, 404, "There is no such session: it has ended or never was.")
    public static let foreignSession = RefusalCode(
        1124, "foreign_session", .rejected, 403, "The token is not the one this session was made with.")
    public static let preconditionRequired = RefusalCode(
        1125, "precondition_required", .rejected, 428, "The request needs an If-Match header with the session's ETag.")
    public static let preconditionFailed = RefusalCode(
        1126, "precondition_failed", .rejected, 412, "The If-Match header names another ICE session: a newer one has begun.")
    public static let malformedFragment = RefusalCode(
        1127, "malformed_fragment", .rejected, 400, "The SDP fragment is malformed.")
    public static let methodNotAllowed = RefusalCode(
        1128, "method_not_allowed", .rejected, 405, "This resource does not know that method.")
    public static let tooManyRequests = RefusalCode(
        1129, "too_many_requests", .rejected, 429, "Too many requests from this address: try again in a moment.")
    public static let tooManyPending = RefusalCode(
        1130, "too_many_pending", .rejected, 429, "Too many sessions of this stage wait for media: try again in a moment.")

    public static let wrongFingerprint = RefusalCode(
        1131, "wrong_fingerprint", .rejected, 403,
        "The DTLS certificate is not the one whose fingerprint stood in the offer.")
    public static let sessionOutOfReach = RefusalCode(
        1136, "session_out_of_reach", .rejected, 503,
        "The process or node that has this session does not answer: try again in a moment.")
    public static let noSRTPProfile = RefusalCode(
        1132, "no_srtp_profile", .rejected, 422,
        "DTLS agreed on no SRTP profile: enable AEAD_AES_128_GCM or AES128_CM_HMAC_SHA1_80.")
}
