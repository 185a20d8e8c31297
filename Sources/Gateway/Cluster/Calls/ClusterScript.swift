/// The scripts of `Scripts/`, each carried out as a whole: nothing of others comes between its reads and its writes.
package enum ClusterScript: CaseIterable, Sendable {
    case claim, renew, release, end, sweep, idle, look, begin, announce
    case heartbeat, bury, nodes

    package var source: String { String(decoding: bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        switch self {
        case .claim: PackageResources.common_lua + PackageResources.claim_lua
        case .renew: PackageResources.common_lua + PackageResources.renew_lua
        case .release: PackageResources.common_lua + PackageResources.release_lua
        case .end: PackageResources.common_lua + PackageResources.end_lua
        case .sweep: PackageResources.common_lua + PackageResources.sweep_lua
        case .idle: PackageResources.common_lua + PackageResources.idle_lua
        case .look: PackageResources.common_lua + PackageResources.look_lua
        case .begin: PackageResources.common_lua + PackageResources.begin_lua
        case .announce: PackageResources.common_lua + PackageResources.announce_lua
        case .heartbeat: PackageResources.heartbeat_lua
        case .bury: PackageResources.bury_lua
        case .nodes: PackageResources.nodes_lua
        }
    }
}
