/// Something that a request wants done, by the name that access keys' lists call it: `ivs:GetStage`, `stagedoor:StartDrain`.
public struct AccessAction: Hashable, Sendable {
    public let name: String

    init(_ operation: Operation) { name = "ivs:\(operation.rawValue)" }
    private init(_ name: String) { self.name = name }

    /// Whether it only reads: what read-only keys may do, and console sessions without showing their token.
    public var isReading: Bool {
        let verb = name.drop { $0 != ":" }.dropFirst()
        return verb.hasPrefix("Get") || verb.hasPrefix("List")
    }

    /// All that there are, in the order of their names.
    public static let all = (Operation.allCases.map(Self.init) + ofNode + ofCloudWatch).sorted { $0.name < $1.name }
}

/// What the admin listener has beside the API's operations.
extension AccessAction {
    public static let getDescription = AccessAction("stagedoor:GetDescription")
    public static let getDrain = AccessAction("stagedoor:GetDrain")
    public static let getEvents = AccessAction("stagedoor:GetEvents")
    public static let getMetrics = AccessAction("stagedoor:GetMetrics")
    public static let getOverview = AccessAction("stagedoor:GetOverview")
    /// What was recorded of a participant.
    public static let getRecording = AccessAction("stagedoor:GetRecording")
    public static let getSession = AccessAction("stagedoor:GetSession")
    public static let getSource = AccessAction("stagedoor:GetSource")
    public static let getStageMetrics = AccessAction("stagedoor:GetStageMetrics")
    /// A picture of somebody who is live.
    public static let getThumbnail = AccessAction("stagedoor:GetThumbnail")
    public static let listSessions = AccessAction("stagedoor:ListSessions")
    /// The settings of an encoder, stream key and all: no reading, which read-only keys may.
    public static let exportEncoderSettings = AccessAction("stagedoor:ExportEncoderSettings")
    public static let startDrain = AccessAction("stagedoor:StartDrain")
    public static let stopDrain = AccessAction("stagedoor:StopDrain")
    public static let switchSource = AccessAction("stagedoor:SwitchSource")

    private static let ofNode = [
        getDescription, getDrain, getEvents, getMetrics, getOverview, getRecording, getSession, getSource, getStageMetrics,
        getThumbnail, listSessions, exportEncoderSettings, startDrain, stopDrain, switchSource,
    ]

    /// What readers of `AWS/IVSRealTime` call.
    public static func cloudWatch(_ operation: String) -> AccessAction { AccessAction("cloudwatch:\(operation)") }

    private static let ofCloudWatch = ["GetMetricData", "GetMetricStatistics", "ListMetrics"].map(cloudWatch)

    /// The service for which clients sign it.
    var signingName: String { name.hasPrefix("cloudwatch:") ? "monitoring" : "ivs" }
}
