import Foundation

/// What the nodes of a cluster tell each other of their recordings, so that one goes on where another has died. One node at a
/// time has a recording: the one that wrote last, until another one takes it over or it is closed.
public protocol RecordingRegister: Sendable {
    /// This node's name.
    var node: String { get }
    /// Never waits. What a node writes of a recording that it no longer has is dropped.
    func write(_ line: RegisterLine)
    /// - Parameters:
    ///   - prefix: of the recording; nil: the participant's latest one.
    ///   - then: called once, on any thread, with nil inside where nothing is known of it.
    func read(
        _ participant: RecordedParticipant, prefix: String?, then: @escaping @Sendable (Result<RegisterPage?, any Error>) -> Void)
}

/// What is written of a recording for other nodes.
public struct RegisterLine: Sendable, Equatable {
    /// What it does to whose the recording is.
    public enum Kind: Sendable {
        /// A new recording, and its participant's latest.
        case begins
        /// More of it, from the node that has it.
        case follows
        /// From now on the writer has it.
        case takesOver
        /// Nobody goes on with it.
        case closes
    }

    public var kind: Kind
    public var participant: RecordedParticipant
    public var prefix: String
    /// Entries of its journal.
    public var text: String

    init(_ kind: Kind, of header: RecordingHeader, _ entries: [JournalEntry]) {
        (self.kind, participant, prefix) = (kind, header.participant, header.prefix)
        // Texts and numbers always encode.
        text = (try? JSONEncoder().encode(entries)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}

/// What is known of a recording to all nodes.
public struct RegisterPage: Sendable, Equatable {
    /// Who has it.
    public var node: String
    /// Nobody goes on with it.
    public var isClosed: Bool
    /// What was written, in order.
    public var texts: [String]

    public init(node: String, isClosed: Bool, texts: [String]) {
        (self.node, self.isClosed, self.texts) = (node, isClosed, texts)
    }

    var entries: [JournalEntry] {
        texts.flatMap { (try? JSONDecoder().decode([JournalEntry].self, from: Data($0.utf8))) ?? [] }.filter(\.isPlausible)
    }
}
