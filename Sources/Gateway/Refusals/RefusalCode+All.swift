extension RefusalCode {
    /// Every row of the table. A test counts the rows in the source and finds one that was left out here.
    public static let all: [RefusalCode] = [
        .unknownStreamKey, .detachedStreamKey, .insecureProtocol, .streamKeyInUse, .stageFull, .takeoverFlapping,
        .participantDisconnected, .stageDeleted, .tokenMalformed, .tokenExpired, .tokenRejected, .tokenCannotPublish,
        .tooManyFailures, .authorityUnavailable, .refusedByAuthority, .tokenCannotSubscribe, .tokenOfOtherStage,
        .unknownApplication, .unsupportedAuthentication,
        .malformedRTMP, .publishTimeout, .videoCodec, .videoProfile, .bFrames, .resolutionExceeded, .resolutionTooSmall,
        .bitrateExceeded, .audioCodec, .audioFormat, .missingTrack, .durationExceeded, .interlacedVideo, .sliceStructure,
        .repeatedViolation, .draining, .overloaded, .noRouter, .internalError, .platformAway, .malformedOffer, .noH264,
        .wrongProfileOffered, .noOpus, .tooManyTracks, .tooManyStreams, .inactiveTrack, .notBundled, .noRTCPMux,
        .unsupportedSetup, .unsupportedTransport, .unsupportedSection, .tooManyLayers, .missingToken,
        .unsupportedContentType, .bodyTooLarge, .unknownSession, .foreignSession, .preconditionRequired,
        .preconditionFailed, .malformedFragment, .methodNotAllowed, .tooManyRequests, .tooManyPending, .wrongFingerprint,
        .noSRTPProfile, .sessionOutOfReach, .participantNotLive, .tooManySubscribers, .nothingReceived,
    ]
}
