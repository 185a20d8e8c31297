/// The four URLs of a stage (`StageEndpoints` of the API model), from configuration: all stages of a gateway share them.
public struct StageEndpoints: Equatable, Sendable {
    public var events: String
    public var whip: String
    public var rtmp: String
    public var rtmps: String

    public init(events: String, whip: String, rtmp: String, rtmps: String) {
        (self.events, self.whip, self.rtmp, self.rtmps) = (events, whip, rtmp, rtmps)
    }
}
