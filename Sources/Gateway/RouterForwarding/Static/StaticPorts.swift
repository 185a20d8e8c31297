import StageHub

/// The even ports of one participant: RTP of video and audio, then of further layers; RTCP one above each.
struct StaticPorts: Sendable, Equatable {
    var video: UInt16
    var audio: UInt16 { video + 2 }

    subscript(track: TrackID) -> UInt16 {
        guard track.kind == .video else { return audio }
        return track.layer == 0 ? video : audio + 2 * UInt16(track.layer)
    }

    /// Ports that they take, without further layers and with.
    static let width = 4
    static let layeredWidth = 8
}

/// Gives out port pairs: the lowest free one, and the same one again to an owner that has one.
struct PortPairs: Sendable {
    private let range: ClosedRange<UInt16>
    private let width: Int
    private var owners: [String: StaticPorts] = [:]
    /// Publications of each owner that has its ports as long as there are any.
    private var borrowers: [String: Int] = [:]

    init(_ range: ClosedRange<UInt16>, width: Int = StaticPorts.width) { (self.range, self.width) = (range, width) }

    /// Nil when all are taken.
    mutating func assign(to owner: String) -> StaticPorts? {
        if let ports = owners[owner] { return ports }
        // Those that others have from there on: adopted ones begin anywhere.
        var above = owners.values.map { Int($0.video) }.sorted()[...]
        let first = (Int(range.lowerBound) + 1) & ~1
        let last = Int(range.upperBound) - width + 1
        for port in stride(from: first, through: last, by: width) {
            above = above.drop { $0 <= port - width }
            if let next = above.first, next < port + width { continue }
            let ports = StaticPorts(video: UInt16(port))
            owners[owner] = ports
            return ports
        }
        return nil
    }

    /// Assigns ports until they were given back as often: at a takeover the next publication begins before the former one ends.
    mutating func borrow(_ owner: String) -> StaticPorts? {
        guard let ports = assign(to: owner) else { return nil }
        borrowers[owner, default: 0] += 1
        return ports
    }

    mutating func giveBack(_ owner: String) {
        let left = borrowers[owner, default: 1] - 1
        borrowers[owner] = left > 0 ? left : nil
        release(owner)
    }

    /// Gives an owner's ports back, unless publications still borrow them.
    mutating func release(_ owner: String) {
        if borrowers[owner] == nil { owners[owner] = nil }
    }

    /// The first port of each owner.
    var assigned: [String: UInt16] { owners.mapValues(\.video) }

    /// Goes on with an assignment made elsewhere; one outside the range, or of ports that are taken here, is not kept.
    mutating func adopt(_ port: UInt16, of owner: String) {
        guard range.contains(port), Int(port) + width - 1 <= Int(range.upperBound) else { return }
        let overlaps = owners.contains { $0.key != owner && abs(Int($0.value.video) - Int(port)) < width }
        if !overlaps { owners[owner] = StaticPorts(video: port) }
    }
}
