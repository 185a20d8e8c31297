/// What machines read of a refusal.
struct RefusalRow {
    /// The short name used as metric label and log field.
    var name: String
    var rtmp: RefusalCode.RTMPStatus
    var httpStatus: Int
    var eventErrorCode: String?

    init(_ name: String, _ rtmp: RefusalCode.RTMPStatus, _ httpStatus: Int, event: String? = nil) {
        (self.name, self.rtmp, self.httpStatus, eventErrorCode) = (name, rtmp, httpStatus, event)
    }
}

extension RefusalCode {
    var row: RefusalRow {
        switch self {
        // Who may come in
        case .unknownStreamKey: RefusalRow("unknown_stream_key", .denied, 401, event: "INVALID_STREAM_KEY")
        case .detachedStreamKey: RefusalRow("detached_stream_key", .denied, 404)
        case .insecureProtocol: RefusalRow("insecure_protocol", .denied, 403, event: "INVALID_PROTOCOL")
        case .streamKeyInUse: RefusalRow("stream_key_in_use", .badName, 409, event: "REUSE_OF_STREAM_KEY")
        case .stageFull: RefusalRow("stage_full", .rejected, 503, event: "QUOTA_EXCEEDED")
        case .takeoverFlapping: RefusalRow("takeover_flapping", .badName, 409, event: "REUSE_OF_STREAM_KEY")
        case .participantDisconnected: RefusalRow("participant_disconnected", .rejected, 403)
        case .stageDeleted: RefusalRow("stage_deleted", .rejected, 404)
        case .tokenMalformed: RefusalRow("token_malformed", .denied, 401)
        case .tokenExpired: RefusalRow("token_expired", .denied, 401)
        case .tokenRejected: RefusalRow("token_rejected", .denied, 401)
        case .tokenCannotPublish: RefusalRow("token_cannot_publish", .denied, 403, event: "INSUFFICIENT_CAPABILITIES")
        case .tooManyFailures: RefusalRow("too_many_failures", .denied, 429)
        case .authorityUnavailable: RefusalRow("authority_unavailable", .rejected, 503)
        case .refusedByAuthority: RefusalRow("refused_by_authority", .denied, 403)
        case .tokenCannotSubscribe: RefusalRow("token_cannot_subscribe", .denied, 403, event: "INSUFFICIENT_CAPABILITIES")
        case .tokenOfOtherStage: RefusalRow("token_of_other_stage", .denied, 403)
        case .redundantStreamKey: RefusalRow("redundant_stream_key", .denied, 403, event: "INVALID_STREAM_KEY")

        // How encoders speak RTMP
        case .unknownApplication: RefusalRow("unknown_application", .rejected, 404)
        case .unsupportedAuthentication: RefusalRow("unsupported_authentication", .denied, 401)
        case .malformedRTMP: RefusalRow("malformed_rtmp", .rejected, 400, event: "INVALID_INPUT")
        case .publishTimeout: RefusalRow("publish_timeout", .rejected, 408)
        case .notRTMP: RefusalRow("not_rtmp", .rejected, 400)
        case .excessiveRTMP: RefusalRow("excessive_rtmp", .rejected, 413, event: "INVALID_INPUT")
        case .malformedCommand: RefusalRow("malformed_command", .rejected, 400, event: "INVALID_INPUT")
        case .outOfTurn: RefusalRow("out_of_turn", .rejected, 400)
        case .silentPublish: RefusalRow("silent_publish", .rejected, 408)

        // What a stream must be to get onto a stage
        case .videoCodec: RefusalRow("video_codec", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .videoProfile: RefusalRow("video_profile", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .bFrames: RefusalRow("b_frames", .rejected, 422, event: "B_FRAME_PRESENT")
        case .resolutionExceeded: RefusalRow("resolution_exceeded", .rejected, 422, event: "RESOLUTION_EXCEEDED")
        case .resolutionTooSmall: RefusalRow("resolution_too_small", .rejected, 422, event: "INVALID_INPUT")
        case .bitrateExceeded: RefusalRow("bitrate_exceeded", .rejected, 422, event: "BITRATE_EXCEEDED")
        case .audioCodec: RefusalRow("audio_codec", .rejected, 422, event: "INVALID_AUDIO_CODEC")
        case .audioFormat: RefusalRow("audio_format", .rejected, 422, event: "INVALID_AUDIO_CODEC")
        case .missingTrack: RefusalRow("missing_track", .rejected, 422, event: "INVALID_INPUT")
        case .durationExceeded: RefusalRow("duration_exceeded", .rejected, 422, event: "STREAM_DURATION_EXCEEDED")
        case .interlacedVideo: RefusalRow("interlaced_video", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .sliceStructure: RefusalRow("slice_structure", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .repeatedViolation: RefusalRow("repeated_violation", .rejected, 429)
        case .unreadableVideo: RefusalRow("unreadable_video", .rejected, 422, event: "INVALID_VIDEO_CODEC")

        // What the gateway cannot do now
        case .draining: RefusalRow("draining", .rejected, 503)
        case .overloaded: RefusalRow("overloaded", .rejected, 503)
        case .noRouter: RefusalRow("no_router", .rejected, 503)
        case .internalError: RefusalRow("internal_error", .rejected, 500, event: "INTERNAL_SERVER_EXCEPTION")
        case .platformAway: RefusalRow("platform_away", .rejected, 503)

        // What a WHIP offer must be
        case .malformedOffer: RefusalRow("malformed_offer", .rejected, 400, event: "INVALID_INPUT")
        case .noH264: RefusalRow("no_h264", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .wrongProfileOffered: RefusalRow("wrong_profile_offered", .rejected, 422, event: "INVALID_VIDEO_CODEC")
        case .noOpus: RefusalRow("no_opus", .rejected, 422, event: "INVALID_AUDIO_CODEC")
        case .tooManyTracks: RefusalRow("too_many_tracks", .rejected, 422, event: "INVALID_INPUT")
        case .tooManyStreams: RefusalRow("too_many_streams", .rejected, 422, event: "INVALID_INPUT")
        case .inactiveTrack: RefusalRow("inactive_track", .rejected, 422, event: "INVALID_INPUT")
        case .notBundled: RefusalRow("not_bundled", .rejected, 422, event: "INVALID_INPUT")
        case .noRTCPMux: RefusalRow("no_rtcp_mux", .rejected, 422, event: "INVALID_INPUT")
        case .unsupportedSetup: RefusalRow("unsupported_setup", .rejected, 422, event: "INVALID_INPUT")
        case .unsupportedTransport: RefusalRow("unsupported_transport", .rejected, 422, event: "INVALID_INPUT")
        case .unsupportedSection: RefusalRow("unsupported_section", .rejected, 422, event: "INVALID_INPUT")
        case .tooManyLayers: RefusalRow("too_many_layers", .rejected, 422, event: "INVALID_INPUT")

        // WHIP's requests and sessions
        case .missingToken: RefusalRow("missing_token", .rejected, 401)
        case .unsupportedContentType: RefusalRow("unsupported_content_type", .rejected, 415)
        case .bodyTooLarge: RefusalRow("body_too_large", .rejected, 413)
        case .unknownSession: RefusalRow("unknown_session", .rejected, 404)
        case .foreignSession: RefusalRow("foreign_session", .rejected, 403)
        case .preconditionRequired: RefusalRow("precondition_required", .rejected, 428)
        case .preconditionFailed: RefusalRow("precondition_failed", .rejected, 412)
        case .malformedFragment: RefusalRow("malformed_fragment", .rejected, 400)
        case .methodNotAllowed: RefusalRow("method_not_allowed", .rejected, 405)
        case .tooManyRequests: RefusalRow("too_many_requests", .rejected, 429)
        case .tooManyPending: RefusalRow("too_many_pending", .rejected, 429)
        case .wrongFingerprint: RefusalRow("wrong_fingerprint", .rejected, 403)
        case .noSRTPProfile: RefusalRow("no_srtp_profile", .rejected, 422)
        case .sessionOutOfReach: RefusalRow("session_out_of_reach", .rejected, 503)
        case .unknownEndpoint: RefusalRow("unknown_endpoint", .rejected, 404)

        // Subscribers of the embedded router
        case .participantNotLive: RefusalRow("participant_not_live", .rejected, 409, event: "PUBLISHER_NOT_FOUND")
        case .tooManySubscribers: RefusalRow("too_many_subscribers", .rejected, 503, event: "QUOTA_EXCEEDED")
        case .nothingReceived: RefusalRow("nothing_received", .rejected, 422)
        case .unknownLayer: RefusalRow("unknown_layer", .rejected, 422)
        case .watchedTooLong: RefusalRow("watched_too_long", .rejected, 403)
        }
    }

    /// What to do, in a sentence that names the setting to change; a `Refusal` may put what was measured in its place.
    public var sentence: String {
        switch self {
        // Who may come in
        case .unknownStreamKey: "No ingest configuration has this stream key: copy the key again from the ingest configuration."
        case .detachedStreamKey:
            "This stream key belongs to no stage: attach its ingest configuration to a stage (UpdateIngestConfiguration stageArn)."
        case .insecureProtocol:
            "This stream key takes RTMPS only: use the rtmps:// URL, or create the ingest configuration with insecureIngest."
        case .streamKeyInUse: "Another encoder is live with this stream key: stop it first, or use another ingest configuration."
        case .stageFull: "The stage already has its greatest number of publishers: end one of them, then try again."
        case .takeoverFlapping:
            "Two encoders keep taking this participant from each other: stop one of them, then try again in a minute."
        case .participantDisconnected:
            "The participant was disconnected by the operator: ask for a new token, or attach the ingest configuration again."
        case .stageDeleted: "The stage does not exist any more: use one that does."
        case .tokenMalformed: "The token is not a participant token: copy it again, whole, from CreateParticipantToken."
        case .tokenExpired: "The token has expired: ask for a new one (CreateParticipantToken)."
        case .tokenRejected:
            "The token is not valid here: its key is unknown, its signature is wrong, or it is for other endpoints."
        case .tokenCannotPublish: "The token does not allow publishing: ask for one with the capability PUBLISH."
        case .tooManyFailures: "Too many wrong credentials came from this address: try again in a minute."
        case .authorityUnavailable: "The service that decides about publishing does not answer: try again in a moment."
        case .refusedByAuthority: "The service that decides about publishing refused this credential."
        case .tokenCannotSubscribe: "The token does not allow subscribing: ask for one with the capability SUBSCRIBE."
        case .tokenOfOtherStage: "The token is for another stage: ask for one of this stage."
        case .redundantStreamKey:
            "This ingest configuration takes two encoders: give each one of the two keys in its redundantIngestCredentials."

        // How encoders speak RTMP
        case .unknownApplication: "The application name must be `app`: use rtmp://HOST/app as the server URL."
        case .unsupportedAuthentication:
            "User and password schemes (authmod adobe, llnw) are not supported: remove them and use the stream key alone."
        case .malformedRTMP: "The RTMP stream is malformed."
        case .publishTimeout: "The encoder connected but did not publish in time."
        case .notRTMP: "What came to the RTMP port is no RTMP: use rtmp:// or rtmps:// there."
        case .excessiveRTMP: "An RTMP message is longer than allowed, or too many are under way: lower the video bitrate."
        case .malformedCommand: "An RTMP command cannot be read: use another encoder, or a newer version of it."
        case .outOfTurn: "The encoder spoke out of turn: connect comes first, then publish, then media."
        case .silentPublish: "No media came any more: look at the encoder and its network, and start the stream again."

        // What a stream must be to get onto a stage
        case .videoCodec: "The video must be H.264: choose an H.264 (AVC) encoder."
        case .videoProfile: "The H.264 profile must be Baseline or Constrained Baseline: set the encoder's profile to baseline."
        case .bFrames: "The stream has B-frames, which real-time stages cannot show: set B-frames to 0 and look-ahead to off."
        case .resolutionExceeded: "The picture is larger than 1280x720 in area: lower the output resolution."
        case .resolutionTooSmall: "The picture's short side is below 160 lines: raise the output resolution."
        case .bitrateExceeded: "The video bitrate is over the stage's limit: set a constant bitrate well below it."
        case .audioCodec: "The audio must be AAC-LC (RTMP) or Opus: choose that audio encoder."
        case .audioFormat: "The audio must be mono or stereo at 44.1 or 48 kHz: change the audio settings."
        case .missingTrack: "RTMP streams must have both video and audio: add the one that is missing."
        case .durationExceeded: "The stream has reached the longest duration allowed: start it again."
        case .interlacedVideo: "The video is interlaced: deinterlace it and encode progressive frames."
        case .sliceStructure: "The H.264 stream uses slice groups, arbitrary slice order or redundant pictures: turn these off."
        case .repeatedViolation: "This encoder broke the stage's media rules three times in five minutes."
        case .unreadableVideo:
            "Too many pictures have no slice header or no parameter sets that can be read: send SPS and PPS before each keyframe, and each slice header in one packet."

        // What the gateway cannot do now
        case .draining: "This gateway is draining: try again, another one will answer."
        case .overloaded: "This gateway is at its limit: try again in a moment."
        case .noRouter: "No stage router can take the stream now: try again in a moment."
        case .internalError: "The gateway failed: try again in a moment."
        case .platformAway: "The gateways cannot agree on new publishers now: live streams go on, try again in a moment."

        // What a WHIP offer must be
        case .malformedOffer: "The SDP offer is malformed."
        case .noH264:
            "The offer has no H.264 video track: enable H.264 in the encoder (Firefox: its OpenH264 plugin), and send video even where only audio matters."
        case .wrongProfileOffered: "The offer has H.264 in a profile that is not accepted: set the encoder's profile to baseline."
        case .noOpus: "The offer has an audio track without Opus: set the encoder's audio codec to Opus."
        case .tooManyTracks: "The offer has more than one audio or video track: send one of each."
        case .tooManyStreams: "The tracks of the offer belong to different MediaStreams: put them into one (a=msid)."
        case .inactiveTrack: "A track of the offer sends nothing (recvonly, inactive or port 0): offer sendonly tracks only."
        case .notBundled: "The offer does not bundle all its m-lines (a=group:BUNDLE): set bundlePolicy to max-bundle."
        case .noRTCPMux: "The offer has an m-line without a=rtcp-mux: enable it."
        case .unsupportedSetup: "The offer's a=setup is none of actpass, active and passive: offer actpass."
        case .unsupportedTransport: "The offer's m-lines must use UDP/TLS/RTP/SAVPF (DTLS-SRTP with feedback)."
        case .unsupportedSection: "The offer has an m-line that is neither audio nor video: leave it out."
        case .tooManyLayers: "The offer has more than eight simulcast layers: send three, which is what a stage takes."

        // WHIP's requests and sessions
        case .missingToken: "The request has no bearer token: put the participant token into the encoder's settings."
        case .unsupportedContentType: "The body must be application/sdp (POST) or application/trickle-ice-sdpfrag (PATCH)."
        case .bodyTooLarge: "The body is larger than 64 KiB."
        case .unknownSession: "There is no such session: it has ended or never was."
        case .foreignSession: "The token is not the one this session was made with."
        case .preconditionRequired: "The request needs an If-Match header with the session's ETag."
        case .preconditionFailed: "The If-Match header names another ICE session: a newer one has begun."
        case .malformedFragment: "The SDP fragment is malformed."
        case .methodNotAllowed: "This resource does not know that method."
        case .tooManyRequests: "Too many requests from this address or on this connection: try again in a moment."
        case .tooManyPending: "Too many sessions of this stage wait for media: try again in a moment."
        case .wrongFingerprint: "The DTLS certificate is not the one whose fingerprint stood in the offer."
        case .noSRTPProfile: "DTLS agreed on no SRTP profile: enable AEAD_AES_128_GCM or AES128_CM_HMAC_SHA1_80."
        case .sessionOutOfReach: "The process or node that has this session does not answer: try again in a moment."
        case .unknownEndpoint:
            "WHIP is served at /whip: use https://HOST:PORT/whip as the server URL, and put the token into the field for it."

        // Subscribers of the embedded router
        case .participantNotLive: "Nobody of this id is live on this stage: watch a participant who is publishing now."
        case .tooManySubscribers:
            "The embedded router has its greatest number of subscribers (embedded.maximumSubscribers): end one of them, or use a stage router."
        case .nothingReceived: "A track of the offer receives nothing (sendonly, inactive or port 0): offer recvonly tracks only."
        case .unknownLayer: "There is no layer of this name: ask for hi, mid, low or a rid of the layers event."
        case .watchedTooLong: "A session watches for 24 hours at most: connect again."
        }
    }
}
