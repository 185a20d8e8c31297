/// Who may come in (1000 to 1019), how they speak (1020 to 1039), what they send (1040 to 1069), what we cannot do now (1070 to 1099).
extension RefusalCode {
    // Who
    public static let unknownStreamKey = RefusalCode(
        1001, "unknown_stream_key", .denied, 401, event: "INVALID_STREAM_KEY",
        "No ingest configuration has this stream key: copy the key again from the ingest configuration.")
    public static let detachedStreamKey = RefusalCode(
        1002, "detached_stream_key", .denied, 404,
        "This stream key belongs to no stage: attach its ingest configuration to a stage (UpdateIngestConfiguration stageArn).")
    public static let insecureProtocol = RefusalCode(
        1003, "insecure_protocol", .denied, 403, event: "INVALID_PROTOCOL",
        "This stream key takes RTMPS only: use the rtmps:// URL, or create the ingest configuration with insecureIngest.")
    public static let streamKeyInUse = RefusalCode(
        1004, "stream_key_in_use", .badName, 409, event: "REUSE_OF_STREAM_KEY",
        "Another encoder is live with this stream key: stop it first, or use another ingest configuration.")
    public static let stageFull = RefusalCode(
        1005, "stage_full", .rejected, 503, event: "QUOTA_EXCEEDED",
        "The stage already has its greatest number of publishers: end one of them, then try again.")
    public static let takeoverFlapping = RefusalCode(
        1006, "takeover_flapping", .badName, 409, event: "REUSE_OF_STREAM_KEY",
        "Two encoders keep taking this participant from each other: stop one of them, then try again in a minute.")
    public static let participantDisconnected = RefusalCode(
        1007, "participant_disconnected", .rejected, 403,
        "The participant was disconnected by the operator: ask for a new token, or attach the ingest configuration again.")
    public static let stageDeleted = RefusalCode(
        1008, "stage_deleted", .rejected, 404, "The stage does not exist any more: use one that does.")
    public static let tokenMalformed = RefusalCode(
        1009, "token_malformed", .denied, 401,
        "The token is not a participant token: copy it again, whole, from CreateParticipantToken.")
    public static let tokenExpired = RefusalCode(
        1010, "token_expired", .denied, 401, "The token has expired: ask for a new one (CreateParticipantToken).")
    public static let tokenRejected = RefusalCode(
        1011, "token_rejected", .denied, 401,
        "The token is not valid here: its key is unknown, its signature is wrong, or it is for other endpoints.")
    public static let tokenCannotPublish = RefusalCode(
        1012, "token_cannot_publish", .denied, 403, event: "INSUFFICIENT_CAPABILITIES",
        "The token does not allow publishing: ask for one with the capability PUBLISH.")
    public static let tooManyFailures = RefusalCode(
        1013, "too_many_failures", .denied, 429, "Too many wrong credentials came from this address: try again in a minute.")
    public static let authorityUnavailable = RefusalCode(
        1014, "authority_unavailable", .rejected, 503,
        "The service that decides about publishing does not answer: try again in a moment.")
    public static let refusedByAuthority = RefusalCode(
        1015, "refused_by_authority", .denied, 403, "The service that decides about publishing refused this credential.")
    public static let tokenCannotSubscribe = RefusalCode(
        1016, "token_cannot_subscribe", .denied, 403, event: "INSUFFICIENT_CAPABILITIES",
        "The token does not allow subscribing: ask for one with the capability SUBSCRIBE.")
    public static let tokenOfOtherStage = RefusalCode(
        1017, "token_of_other_stage", .denied, 403, "The token is for another stage: ask for one of this stage.")

    // How
    public static let unknownApplication = RefusalCode(
        1020, "unknown_application", .connectRejected, 404,
        "The application name must be `app`: use rtmp://HOST/app as the server URL.")
    public static let unsupportedAuthentication = RefusalCode(
        1021, "unsupported_authentication", .connectRejected, 401,
        "User and password schemes (authmod adobe, llnw) are not supported: remove them and use the stream key alone.")
    public static let malformedRTMP = RefusalCode(
        1022, "malformed_rtmp", .rejected, 400, event: "INVALID_INPUT", "The RTMP stream is malformed.")
    public static let publishTimeout = RefusalCode(
        1023, "publish_timeout", .rejected, 408, "The encoder connected but did not publish in time.")

    // Now
    public static let draining = RefusalCode(
        1070, "draining", .rejected, 503, "This gateway is draining: try again, another one will answer.")
    public static let overloaded = RefusalCode(
        1071, "overloaded", .rejected, 503, "This gateway is at its limit: try again in a moment.")
    public static let noRouter = RefusalCode(
        1072, "no_router", .rejected, 503, "No stage router can take the stream now: try again in a moment.")
    public static let internalError = RefusalCode(
        1073, "internal_error", .rejected, 500, event: "INTERNAL_SERVER_EXCEPTION", "The gateway failed: try again in a moment.")
    public static let platformAway = RefusalCode(
        1074, "platform_away", .rejected, 503,
        "The gateways cannot agree on new publishers now: live streams go on, try again in a moment.")
}
