/// The two even ports of one participant: RTP of video and audio, RTCP one above each.
public struct StaticPorts: Sendable, Equatable, Hashable {
    public var video: UInt16
    public var audio: UInt16 { video + 2 }

    /// Ports that a pair takes.
    static let width = 4
}

/// Gives out port pairs: the lowest free one, and the same one again to whoever had one.
struct PortPairs: Sendable {
    private let range: ClosedRange<UInt16>
    private var owners: [String: StaticPorts] = [:]

    init(_ range: ClosedRange<UInt16>) { self.range = range }

    /// Nil when all are taken.
    mutating func assign(to owner: String) -> StaticPorts? {
        if let ports = owners[owner] { return ports }
        let taken = Set(owners.values)
        let first = (Int(range.lowerBound) + 1) & ~1
        let last = Int(range.upperBound) - StaticPorts.width + 1
        for port in stride(from: first, through: last, by: StaticPorts.width) {
            let ports = StaticPorts(video: UInt16(port))
            guard !taken.contains(ports) else { continue }
            owners[owner] = ports
            return ports
        }
        return nil
    }

    mutating func release(_ owner: String) { owners[owner] = nil }

    /// The first port of each owner.
    var assigned: [String: UInt16] { owners.mapValues(\.video) }

    /// Goes on with an assignment made elsewhere; one outside the range, or of ports that are taken here, is not kept.
    mutating func adopt(_ port: UInt16, of owner: String) {
        guard range.contains(port), Int(port) + StaticPorts.width - 1 <= Int(range.upperBound) else { return }
        let ports = StaticPorts(video: port)
        if !owners.contains(where: { $0.value == ports && $0.key != owner }) { owners[owner] = ports }
    }
}
