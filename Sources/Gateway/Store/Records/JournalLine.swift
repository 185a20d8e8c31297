/// A line of a recording's journal that all nodes of a cluster see, so that another one goes on with the recording when its node
/// has died.
public struct JournalLine: Codable, Equatable, Sendable {
    /// Lines of a node that has the recording no more are dropped.
    public enum Kind: String, Codable, Sendable {
        case begins, follows
        /// The node that writes this has the recording from now on, unless it is closed.
        case takesOver
        /// Nobody goes on with it.
        case closes
    }

    public var kind: Kind
    public var stageARN: String
    public var participantID: String
    /// Of the recording's objects: `<stageId>/<stageSessionId>/<participantId>/<time>`.
    public var prefix: String
    public var node: String
    /// Understood by recorders alone.
    public var text: String

    public init(_ kind: Kind, stageARN: String, participantID: String, prefix: String, node: String, text: String) {
        (self.kind, self.stageARN, self.participantID) = (kind, stageARN, participantID)
        (self.prefix, self.node, self.text) = (prefix, node, text)
    }
}

/// What all nodes know of a recording.
public struct ClusterJournal: Equatable, Sendable {
    public var prefix: String
    /// Who has it.
    public var node: String
    public var isClosed: Bool
    /// The texts of all lines, in order; of one that is closed the last one.
    public var texts: [String]

    public init(prefix: String, node: String, isClosed: Bool, texts: [String]) {
        (self.prefix, self.node, self.isClosed, self.texts) = (prefix, node, isClosed, texts)
    }
}
