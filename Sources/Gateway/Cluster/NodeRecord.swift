import JSON
import Store

/// What a node tells the others of itself with its heartbeat.
public struct NodeRecord: Hashable, Sendable {
    public var id: String
    /// Tells the process that wrote it from any other; empty of versions that tell none.
    public var process = ""
    /// Where other nodes reach it.
    public var nodeURL = ""
    /// Where encoders and browsers reach it.
    public var publicURL = ""
    /// 0 is idle, 1 takes no more.
    public var load = 0.0
    public var publishers = 0
    public var isDraining = false
    /// The stage routers that it sees alive.
    public var routers: Set<String> = []
    /// Who watches there, by the names of `viewer`: they hold no lease that other nodes could see.
    public var viewers: Set<String> = []

    public init(id: String) { self.id = id }

    /// `stageId/participantId`
    public static func viewer(_ participantID: String, ofStage arn: String) -> String {
        "\(ResourceName.identifier(inARN: arn))/\(participantID)"
    }

    /// Whether another process than `own`'s has told this of itself under the same name.
    func isRival(of own: NodeRecord) -> Bool { id == own.id && !process.isEmpty && process != own.process }
}

extension NodeRecord {
    /// Load in hundredths, so that a record changes when it matters.
    var text: String {
        let json: JSONValue = [
            "process": .string(process), "node": .string(nodeURL), "public": .string(publicURL),
            "load": .integer(Int64(max(0, min(10, load)) * 100)),
            "publishers": .integer(Int64(publishers)), "draining": .bool(isDraining),
            "routers": .array(routers.sorted().map { .string($0) }),
            "viewers": .array(viewers.sorted().prefix(Self.maximumViewers).map { .string($0) }),
        ]
        return json.description
    }

    /// Of a node that has not told anything yet only the id is known.
    init(id: String, parsing text: String) {
        self.init(id: id)
        guard let json = try? JSONValue(parsing: text) else { return }
        process = json["process"]?.string ?? ""
        (nodeURL, publicURL) = (json["node"]?.string ?? "", json["public"]?.string ?? "")
        load = Double(Self.possibleLoad.clamping(json["load"]?.integer)) / 100
        publishers = Int(Self.possiblePublishers.clamping(json["publishers"]?.integer))
        isDraining = json["draining"]?.bool ?? false
        routers = Set((json["routers"]?.array ?? []).compactMap(\.string))
        viewers = Set((json["viewers"]?.array ?? []).prefix(Self.maximumViewers).compactMap(\.string))
    }

    /// No honest node tells of more publishers, or of a greater load; sums over all nodes stay far from overflow.
    private static let possiblePublishers: ClosedRange<Int64> = 0...1_000_000
    /// As many as a node has places for.
    private static let maximumViewers = 1_500
    private static let possibleLoad: ClosedRange<Int64> = 0...1_000
}

extension ClosedRange<Int64> {
    /// The nearest number of the range; its lower bound for none.
    fileprivate func clamping(_ value: Int64?) -> Int64 { Swift.min(Swift.max(value ?? lowerBound, lowerBound), upperBound) }
}
