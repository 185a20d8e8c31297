/// What a server has to be for the link's purpose.
enum ServerRole {
    /// Takes writes.
    case primary
    /// Knows where primaries are; it has no data.
    case sentinel
    /// A node of a cluster, primary or replica.
    case clusterNode
}
