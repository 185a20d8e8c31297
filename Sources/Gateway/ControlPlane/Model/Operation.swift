import HTTP
import Wire

/// The operations of `ivs-realtime` (2020-07-14). Each is `POST /<name>` but those on tags.
enum Operation: String, CaseIterable {
    case createStage = "CreateStage"
    case getStage = "GetStage"
    case updateStage = "UpdateStage"
    case listStages = "ListStages"
    case deleteStage = "DeleteStage"
    case createParticipantToken = "CreateParticipantToken"
    case disconnectParticipant = "DisconnectParticipant"
    case importPublicKey = "ImportPublicKey"
    case getPublicKey = "GetPublicKey"
    case listPublicKeys = "ListPublicKeys"
    case deletePublicKey = "DeletePublicKey"
    case createIngestConfiguration = "CreateIngestConfiguration"
    case getIngestConfiguration = "GetIngestConfiguration"
    case updateIngestConfiguration = "UpdateIngestConfiguration"
    case listIngestConfigurations = "ListIngestConfigurations"
    case deleteIngestConfiguration = "DeleteIngestConfiguration"
    case createStorageConfiguration = "CreateStorageConfiguration"
    case getStorageConfiguration = "GetStorageConfiguration"
    case listStorageConfigurations = "ListStorageConfigurations"
    case deleteStorageConfiguration = "DeleteStorageConfiguration"
    case listStageSessions = "ListStageSessions"
    case getStageSession = "GetStageSession"
    case listParticipants = "ListParticipants"
    case getParticipant = "GetParticipant"
    case listParticipantEvents = "ListParticipantEvents"
    case tagResource = "TagResource"
    case untagResource = "UntagResource"
    case listTagsForResource = "ListTagsForResource"
    case startParticipantReplication = "StartParticipantReplication"
    case stopParticipantReplication = "StopParticipantReplication"
    case listParticipantReplicas = "ListParticipantReplicas"
    // Not served: connection tokens are for the SDKs' signalling, and composition is no work of a gateway.
    case revokeConnectionToken = "RevokeConnectionToken"
    case listCompositions = "ListCompositions"
    case listEncoderConfigurations = "ListEncoderConfigurations"
    case startComposition = "StartComposition"
    case getComposition = "GetComposition"
    case stopComposition = "StopComposition"
    case createEncoderConfiguration = "CreateEncoderConfiguration"
    case getEncoderConfiguration = "GetEncoderConfiguration"
    case deleteEncoderConfiguration = "DeleteEncoderConfiguration"

    /// Whether the path is made like an operation's. There are more of them in newer models, whose clients are told so in the
    /// words of the protocol.
    static func isAddress(_ path: String) -> Bool {
        let (slash, name) = (path.utf8.first, path.utf8.dropFirst())
        guard slash == UInt8(ascii: "/"), let initial = name.first, isCapital(initial) else { return false }
        return name.allSatisfy { isCapital($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    /// Those whose resource is named in the path.
    var isOnTags: Bool { self == .tagResource || self == .untagResource || self == .listTagsForResource }

    /// The output member of a list that is always empty here.
    var emptyList: String? {
        switch self {
        case .listCompositions: "compositions"
        case .listEncoderConfigurations: "encoderConfigurations"
        default: nil
        }
    }
}

/// Which operation a request means.
struct OperationCall {
    var operation: Operation
    /// The ARN in the path of tag operations.
    var resource = ""

    init(_ request: HTTPRequest) throws(APIError) {
        if request.path.hasPrefix("/tags/") {
            guard let arn = PercentEncoding.decode(request.path.dropFirst("/tags/".count)) else {
                throw .validation("resourceArn is not percent-encoded UTF-8.")
            }
            resource = arn
            switch request.method {
            case .post: operation = .tagResource
            case .delete: operation = .untagResource
            case .get: operation = .listTagsForResource
            default: throw Self.unknown
            }
            return
        }
        guard request.method == .post, let operation = Operation(rawValue: String(request.path.dropFirst())),
            !operation.isOnTags
        else { throw Self.unknown }
        self.operation = operation
    }

    private static let unknown = APIError(
        type: "UnknownOperationException", status: 404, message: "There is no such operation.")
}
