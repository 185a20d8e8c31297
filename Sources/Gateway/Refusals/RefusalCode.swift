/// Every reason to turn a peer away, in the order of the numbers. A number keeps its meaning, and is
/// never given to another reason.
///
/// What goes with each stands in `RefusalTable.swift`; docs/errors.md is generated from it (`stagedoor errors`), and a test
/// compares the two.
public enum RefusalCode: Int, Sendable, CaseIterable {
    // Who may come in: 1000 to 1019
    case unknownStreamKey = 1001
    case detachedStreamKey = 1002
    case insecureProtocol = 1003
    case streamKeyInUse = 1004
    case stageFull = 1005
    case takeoverFlapping = 1006
    case participantDisconnected = 1007
    case stageDeleted = 1008
    case tokenMalformed = 1009
    case tokenExpired = 1010
    case tokenRejected = 1011
    case tokenCannotPublish = 1012
    case tooManyFailures = 1013
    case authorityUnavailable = 1014
    case refusedByAuthority = 1015
    case tokenCannotSubscribe = 1016
    case tokenOfOtherStage = 1017
    case redundantStreamKey = 1018

    // How encoders speak RTMP: 1020 to 1039
    case unknownApplication = 1020
    case unsupportedAuthentication = 1021
    case malformedRTMP = 1022
    case publishTimeout = 1023
    case notRTMP = 1024
    case excessiveRTMP = 1025
    case malformedCommand = 1026
    case outOfTurn = 1027
    case silentPublish = 1028

    // What a stream must be to get onto a stage (docs/design.md 8): 1040 to 1069
    case videoCodec = 1040
    case videoProfile = 1041
    case bFrames = 1042
    case resolutionExceeded = 1043
    case resolutionTooSmall = 1044
    case bitrateExceeded = 1045
    case audioCodec = 1046
    case audioFormat = 1047
    case missingTrack = 1048
    case durationExceeded = 1049
    case interlacedVideo = 1050
    case sliceStructure = 1051
    case repeatedViolation = 1052
    case unreadableVideo = 1053

    // What the gateway cannot do now: 1070 to 1099
    case draining = 1070
    case overloaded = 1071
    case noRouter = 1072
    case internalError = 1073
    case platformAway = 1074

    // What a WHIP offer must be: 1100 to 1119
    case malformedOffer = 1100
    case noH264 = 1101
    case wrongProfileOffered = 1102
    case noOpus = 1103
    case tooManyTracks = 1104
    case tooManyStreams = 1105
    case inactiveTrack = 1106
    case notBundled = 1107
    case noRTCPMux = 1108
    case unsupportedSetup = 1109
    case unsupportedTransport = 1110
    case unsupportedSection = 1111
    case tooManyLayers = 1112

    // WHIP's requests and sessions: 1120 to 1139
    case missingToken = 1120
    case unsupportedContentType = 1121
    case bodyTooLarge = 1122
    case unknownSession = 1123
    case foreignSession = 1124
    case preconditionRequired = 1125
    case preconditionFailed = 1126
    case malformedFragment = 1127
    case methodNotAllowed = 1128
    case tooManyRequests = 1129
    case tooManyPending = 1130
    case wrongFingerprint = 1131
    case noSRTPProfile = 1132
    case sessionOutOfReach = 1136
    case unknownEndpoint = 1137

    // Subscribers of the embedded router, beside what their offers share with WHIP: 1140 to 1149
    case participantNotLive = 1140
    case tooManySubscribers = 1141
    case nothingReceived = 1142
    case unknownLayer = 1143
    case watchedTooLong = 1144

    /// The `code` of the `onStatus` that an RTMP encoder gets.
    public enum RTMPStatus: String, Sendable {
        case denied = "NetStream.Publish.Denied"
        case badName = "NetStream.Publish.BadName"
        case rejected = "NetStream.Publish.Rejected"
    }
}

extension RefusalCode {
    public var number: Int { rawValue }
    /// As encoders, logs and docs/errors.md show the number.
    public var identifier: String { "SD-\(number)" }
    /// The short name used as metric label and log field.
    public var name: String { row.name }
    public var rtmp: RTMPStatus { row.rtmp }
    public var httpStatus: Int { row.httpStatus }
    /// `EventErrorCode` of the API model; nil where no event is recorded.
    public var eventErrorCode: String? { row.eventErrorCode }
}
