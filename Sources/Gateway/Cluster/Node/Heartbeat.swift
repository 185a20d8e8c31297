import Settings
import Wire

/// Tells the server that this node is alive, and keeps what the server says of which others are.
struct Heartbeat: Sendable {
    /// What this node tells others of itself; JSON.
    var record = "{}"
    /// Nodes that count as alive, and their records.
    private(set) var nodes: [String: String] = [:]
    private(set) var dueAt: MonotonicTime
    /// Another process lives under this node's name: its record came after one of ours.
    private(set) var hasRival = false

    private let nodeID: String
    private let interval: Duration
    private let lifetime: Duration
    private var nodesAt: MonotonicTime
    /// The record that the server has.
    private var toldRecord: String?
    /// When the heartbeat was sent that the server took last.
    private var writtenAt: MonotonicTime?
    /// The server heard nothing for longer than heartbeats live: others may have deleted this node's stages.
    private var mayBeBuried = false

    init(of settings: NodeSettings, now: MonotonicTime) {
        (nodeID, interval) = (settings.nodeID, settings.cluster.heartbeatInterval)
        (lifetime, dueAt, nodesAt) = (settings.cluster.heartbeatLifetime, now, now)
    }

    /// The more nodes there are, the older the list of them may be: reading it costs all of them alike.
    private var nodesInterval: Duration { max(.seconds(3), .milliseconds(Int64(nodes.count) * 50)) }

    /// A heartbeat was due, whether or not it can be sent.
    mutating func scheduleNext(_ now: MonotonicTime) { dueAt = now + interval }

    /// - Parameter buries: whether this node may get dead ones to bury.
    mutating func beat(buries: Bool, _ now: MonotonicTime) -> [ClusterAction] {
        let beat = ClusterAction.call(.heartbeat(record: record == toldRecord ? nil : record, buries: buries))
        guard now >= nodesAt else { return [beat] }
        nodesAt = now + nodesInterval
        // Once the server has ours, it is asked before ours is written again: over that of a rival, if there is one.
        return toldRecord == nil ? [beat, .call(.nodes)] : [.call(.nodes), beat]
    }

    /// The server took one.
    /// - Parameter record: nil where it brought none.
    mutating func written(_ record: String?, sentAt: MonotonicTime, _ now: MonotonicTime) {
        if let last = writtenAt, now - last > lifetime { mayBeBuried = true }
        writtenAt = sentAt
        toldRecord = record ?? toldRecord
    }

    /// The server may have forgotten the record.
    mutating func forgetTold() { toldRecord = nil }

    /// The list of nodes came.
    /// - Parameter isWhole: false where nodes that live may not have said so yet: those that were known stay.
    /// - Returns: whether this node has to tell everything again, as it may have been buried: it has no record, or was silent for
    ///   so long. A record alone says nothing, as the first heartbeat after that brings one.
    mutating func see(_ nodes: [String: String], isWhole: Bool) -> Bool {
        self.nodes = isWhole ? nodes : self.nodes.merging(nodes) { known, new in new.isEmpty ? known : new }
        let own = nodes[nodeID, default: ""]
        // Before ours is written, that of the process before this one is there.
        if toldRecord != nil { hasRival = hasRival || isRival(own) }
        guard mayBeBuried || own.isEmpty else { return false }
        (mayBeBuried, toldRecord) = (false, nil)
        return true
    }

    private func isRival(_ text: String) -> Bool {
        NodeRecord(id: nodeID, parsing: text).isRival(of: NodeRecord(id: nodeID, parsing: record))
    }
}
